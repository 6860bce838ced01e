"""Decomposable attention between two sentences, one way, seen as a translation's alignment is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from attnviz.trace import FloatArray, Judgement
from attnviz.trace.looks import words_of
from attnviz.trace.parts import Words


@dataclass(frozen=True, eq=False)
class PairLooks:
    """Where one of the two sentences looks in the other: its rows ask, its columns are asked."""

    judgement: Judgement
    asking: Literal["source", "target"] = "target"

    def _of(self, name: str, *, asks: bool) -> Any:
        sides = ("source", "target") if self.asking == "source" else ("target", "source")
        return getattr(self.judgement, f"{sides[0] if asks else sides[1]}_{name}")

    @property
    def alignment(self) -> FloatArray:
        """(asking, asked), rows sum to 1."""
        found: FloatArray = self._of("alignment", asks=True)
        return found

    @property
    def target_pieces(self) -> tuple[str, ...]:
        """Those that ask."""
        found: tuple[str, ...] = self._of("pieces", asks=True)
        return found

    @property
    def source_pieces(self) -> tuple[str, ...]:
        """Those that are asked."""
        found: tuple[str, ...] = self._of("pieces", asks=False)
        return found

    @property
    def source_surfaces(self) -> tuple[str, ...]:
        """The same, as they were typed."""
        found: tuple[str, ...] = self._of("surfaces", asks=False)
        return found

    @property
    def target_ids(self) -> tuple[int, ...]:
        """The ids of those that ask."""
        found: tuple[int, ...] = self._of("ids", asks=True)
        return found

    @property
    def attends(self) -> bool:
        """True."""
        return True

    @property
    def model(self) -> str:
        """The detector."""
        return self.judgement.model

    @property
    def config(self) -> Mapping[str, Any]:
        """Its config."""
        return self.judgement.config

    @property
    def vocabulary_size(self) -> int:
        """Pieces that the model knows."""
        return int(self.config["vocabulary_size"])

    @property
    def source_text(self) -> str:
        """The English sentence."""
        return self.judgement.source_text

    @cached_property
    def fingerprint(self) -> str:
        """Tells it from the other way, and from other pairs."""
        return f"{self.judgement.fingerprint}-{self.asking}"

    def words(self) -> Words:
        """Return the merged view."""
        return self._words

    @cached_property
    def _words(self) -> Words:
        return words_of(self, self.source_surfaces)


def reordered(one: Judgement, other: Judgement) -> list[int] | None:
    """Return for each source piece of `other` the 0-based place in `one` where the same piece stands, each place once;
    None where they are not the same pieces in another order."""
    places: dict[int, list[int]] = {}
    for place, piece in enumerate(one.source_ids):
        places.setdefault(piece, []).append(place)
    if sorted(one.source_ids) != sorted(other.source_ids):
        return None
    return [places[piece].pop(0) for piece in other.source_ids]


def swapped(text: str, one: int, other: int) -> str:
    """Return `text` with two of its words, parted by blanks, in one another's place; both are 0-based."""
    words = text.split()
    words[one], words[other] = words[other], words[one]
    return " ".join(words)


def largest_difference(one: Judgement, other: Judgement, places: list[int]) -> float:
    """Return by how much the vectors of the source pieces, the sums and the verdict of `other` differ at most from
    those of `one`, its pieces at these `places`."""
    pairs = [
        (one.source_comparisons[places], other.source_comparisons),
        (one.source_sum, other.source_sum),
        (one.target_sum, other.target_sum),
        (one.probabilities, other.probabilities),
    ]
    return max(float(np.abs(first - second).max()) for first, second in pairs)
