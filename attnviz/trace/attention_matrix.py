"""`AttentionMatrix`: protocol of an attention matrix with its pieces, and the alignment of such a matrix by words."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Protocol

from attnviz.text import join_pieces, word_groups
from attnviz.trace.parts import FloatArray, Words


class AttentionMatrix(Protocol):
    """Query pieces, key pieces and the weights between them: a translation, or one head of a transformer.

    In self-attention, both sides are the same sentence.
    """

    @property
    def source_pieces(self) -> tuple[str, ...]:
        """The key pieces."""

    @property
    def target_pieces(self) -> tuple[str, ...]:
        """The query pieces, or those written at the querying steps."""

    @property
    def alignment(self) -> FloatArray:
        """Attention weights, (queries, keys); rows sum to 1."""

    def words(self) -> Words:
        """Return the alignment by words."""


def words_of(matrix: AttentionMatrix, surfaces: tuple[str, ...]) -> Words:
    """Return the alignment of `matrix` by words; `surfaces` are the key pieces as they were typed."""
    key_groups, query_groups = word_groups(surfaces), word_groups(matrix.target_pieces)
    words = Words(
        tuple(join_pieces(surfaces[j] for j in group) or "<unk>" for group in key_groups),
        tuple(join_pieces(matrix.target_pieces[i] for i in group) for group in query_groups),
        matrix.alignment,
        key_groups,
        query_groups,
    )
    return dataclasses.replace(words, alignment=words.merged(matrix.alignment))


@dataclass(frozen=True)
class Beginning:
    """The first rows of an attention matrix: what is known once some words are written."""

    matrix: AttentionMatrix
    count: int
    """Number of its target words, at least 1."""

    @property
    def source_pieces(self) -> tuple[str, ...]:
        """The key pieces."""
        return self.matrix.source_pieces

    @property
    def target_pieces(self) -> tuple[str, ...]:
        """The query pieces of the first words."""
        return self.matrix.target_pieces[: len(self.alignment)]

    @property
    def alignment(self) -> FloatArray:
        """Attention weights of these pieces."""
        return self.matrix.alignment[: self.matrix.words().target_groups[self.count - 1][-1] + 1]

    def words(self) -> Words:
        """Return the alignment by words."""
        words = self.matrix.words()
        return dataclasses.replace(
            words,
            target=words.target[: self.count],
            alignment=words.alignment[: self.count],
            target_groups=words.target_groups[: self.count],
        )
