"""`Looks`: who looked where, as much as pictures and sentences of an alignment need of a record."""

from __future__ import annotations

from typing import Protocol

from attnviz.trace.parts import FloatArray, Words


class Looks(Protocol):
    """Pieces that ask, pieces that are asked, and the weights between them: a translation, or a head of a transformer,
    in which a sentence may ask itself."""

    @property
    def source_pieces(self) -> tuple[str, ...]:
        """Those that are asked."""

    @property
    def target_pieces(self) -> tuple[str, ...]:
        """Those that ask, or are written at the steps that ask."""

    @property
    def alignment(self) -> FloatArray:
        """(asking, asked), rows sum to 1."""

    def words(self) -> Words:
        """Return the merged view."""
