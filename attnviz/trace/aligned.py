"""`Aligned`: what every record of an alignment holds, whoever made it: the pieces of both sides and where each target
piece looked."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from textwrap import shorten
from typing import TYPE_CHECKING

from attnviz.text import join_pieces, word_groups
from attnviz.trace.parts import FloatArray, Words
from attnviz.trace.saved import Saved

Groups = tuple[tuple[int, ...], ...]
"""The 0-based pieces of each word, in order."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Aligned(Saved):
    """Two sentences in pieces, and for each piece of the second where it looked in the first.

    Tx and Ty count pieces, `</s>` included where it is there. A piece that opens a word begins with SentencePiece's
    visible space.
    """

    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]

    if TYPE_CHECKING:
        # Some keep them as fields; a property here would pass for a field's default.
        @property
        def source_text(self) -> str:
            """The source sentence."""

        @property
        def translation(self) -> str:
            """The target sentence."""

        @property
        def source_surfaces(self) -> tuple[str, ...]:
            """The source pieces, but with the characters that each `<unk>` stands for, where they are known."""

        @property
        def alignment(self) -> FloatArray:
            """Where each step looked, (Ty, Tx), rows sum to 1."""

    def __repr__(self) -> str:
        """Return its kind and both sentences, of long ones the beginning."""
        source, target = (shorten(text, 80, placeholder=" …") for text in (self.source_text, self.translation))
        return f"<{type(self).__name__}: {source} → {target}>"

    @property
    @abstractmethod
    def attends(self) -> bool:
        """Whether each step chose where to look."""

    @property
    @abstractmethod
    def attends_once(self) -> bool:
        """Whether a step had one look, with one energy for each source piece, of a model that can be asked again: then
        it can be changed by hand, and has a posterior."""

    @property
    @abstractmethod
    def vocabulary_size(self) -> int:
        """How many pieces there were to choose from; 0 where it is unknown."""

    def word_groups(self) -> tuple[Groups, Groups]:
        """Return the pieces of the words of both sides."""
        return word_groups(self.source_pieces), word_groups(self.target_pieces)

    def words(self) -> Words:
        """Return the merged view: source words, target words and the (words, words) matrix."""
        return self._words

    @cached_property
    def _words(self) -> Words:
        source, target = self.word_groups()
        words = Words(
            source=tuple(join_pieces(self.source_surfaces[i] for i in group) or "<unk>" for group in source),
            target=tuple(join_pieces(self.target_pieces[i] for i in group) for group in target),
            alignment=self.alignment,
            source_groups=source,
            target_groups=target,
        )
        merged = words.merged(self.alignment)
        merged.setflags(write=False)
        return dataclasses.replace(words, alignment=merged)
