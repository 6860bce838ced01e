"""Decomposable attention between two sentences as a displayable alignment, and the effect of swapping words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from attnviz.trace import FloatArray, Judgement
from attnviz.trace.aligned import words_of
from attnviz.trace.parts import Words


@dataclass(frozen=True, eq=False)
class PairAttention:
    """Attention of one of the two sentences to the other: rows are queries, columns are keys."""

    judgement: Judgement
    query_side: Literal["source", "target"] = "target"

    def _side_value(self, name: str, *, of_query: bool) -> Any:
        sides = ("source", "target") if self.query_side == "source" else ("target", "source")
        return getattr(self.judgement, f"{sides[0] if of_query else sides[1]}_{name}")

    @property
    def alignment(self) -> FloatArray:
        """Attention weights, (queries, keys); rows sum to 1."""
        weights: FloatArray = self._side_value("alignment", of_query=True)
        return weights

    @property
    def target_pieces(self) -> tuple[str, ...]:
        """The query pieces."""
        pieces: tuple[str, ...] = self._side_value("pieces", of_query=True)
        return pieces

    @property
    def source_pieces(self) -> tuple[str, ...]:
        """The key pieces."""
        pieces: tuple[str, ...] = self._side_value("pieces", of_query=False)
        return pieces

    @property
    def source_surfaces(self) -> tuple[str, ...]:
        """The key pieces as they were typed."""
        surfaces: tuple[str, ...] = self._side_value("surfaces", of_query=False)
        return surfaces

    @property
    def target_ids(self) -> tuple[int, ...]:
        """Ids of the query pieces."""
        ids: tuple[int, ...] = self._side_value("ids", of_query=True)
        return ids

    @property
    def attends(self) -> bool:
        """True: it is an attention matrix."""
        return True

    @property
    def model(self) -> str:
        """Name of the detector."""
        return self.judgement.model

    @property
    def config(self) -> Mapping[str, Any]:
        """Config of the detector."""
        return self.judgement.config

    @property
    def vocabulary_size(self) -> int:
        """Number of pieces of the detector's vocabulary."""
        return int(self.config["vocabulary_size"])

    @property
    def source_text(self) -> str:
        """The English sentence as typed."""
        return self.judgement.source_text

    @cached_property
    def fingerprint(self) -> str:
        """Identifies this direction of this pair."""
        return f"{self.judgement.fingerprint}-{self.query_side}"

    def words(self) -> Words:
        """Return the alignment by words."""
        return self._words

    @cached_property
    def _words(self) -> Words:
        return words_of(self, self.source_surfaces)


def matching_positions(first: Judgement, other: Judgement) -> list[int] | None:
    """Return for each source piece of `other` the 0-based position of the same piece in `first`, each position once.

    None where the pieces are not a permutation of each other.
    """
    places: dict[int, list[int]] = {}
    for place, piece in enumerate(first.source_ids):
        places.setdefault(piece, []).append(place)
    if sorted(first.source_ids) != sorted(other.source_ids):
        return None
    return [places[piece].pop(0) for piece in other.source_ids]


def with_words_swapped(text: str, first: int, second: int) -> str:
    """Return `text` with two of its words, separated by spaces, exchanged; both are 0-based."""
    words = text.split()
    words[first], words[second] = words[second], words[first]
    return " ".join(words)


def largest_difference(judgement: Judgement, other: Judgement, places: list[int]) -> float:
    """Return the largest difference in comparisons, sums and probabilities between two judgements.

    `places` are the positions in `judgement` of the source pieces of `other`.
    """
    pairs = [
        (judgement.source_comparisons[places], other.source_comparisons),
        (judgement.source_sum, other.source_sum),
        (judgement.target_sum, other.target_sum),
        (judgement.probabilities, other.probabilities),
    ]
    return max(float(np.abs(first - second).max()) for first, second in pairs)
