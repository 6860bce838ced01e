"""`Looks`: who looked where, as much as pictures and sentences of an alignment need of a record."""

from __future__ import annotations

import dataclasses
from typing import Protocol

from attnviz.text import join_pieces, word_groups
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


def words_of(looks: Looks, surfaces: tuple[str, ...]) -> Words:
    """Return the merged view of `looks`; `surfaces` are the asked pieces as they were typed."""
    asked, asking = word_groups(looks.source_pieces), word_groups(looks.target_pieces)
    words = Words(
        tuple(join_pieces(surfaces[j] for j in group) or "<unk>" for group in asked),
        tuple(join_pieces(looks.target_pieces[i] for i in group) for group in asking),
        looks.alignment,
        asked,
        asking,
    )
    return dataclasses.replace(words, alignment=words.merged(looks.alignment))
