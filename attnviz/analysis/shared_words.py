"""Align two sentences by the words they share, on one common axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class SharedAxis:
    """Two sentences on one axis of N places: shared words once, other words in between, in sentence order."""

    first: tuple[int | None, ...]
    """For each place, the 0-based word of the first sentence; None where only the other has a word."""
    other: tuple[int | None, ...]
    """For each place, the 0-based word of the other sentence; None where only the first has a word."""
    names: tuple[str, ...]
    """Label of each place; both spellings where a shared word differs in case."""

    @property
    def shared(self) -> NDArray[np.bool_]:
        """Whether both have a word there, (N,)."""
        return np.array([None not in pair for pair in zip(self.first, self.other, strict=True)], dtype=bool)

    @property
    def same(self) -> bool:
        """Whether every place is shared, so that the sentences differ only in case."""
        return bool(self.shared.all())


def shared_axis(first: Sequence[str], other: Sequence[str]) -> SharedAxis:
    """Return two sentences on one axis, by the longest common run of words, then recursively left and right of it.

    This is the algorithm of Ratcliff & Obershelp (1988), as in `difflib`, ignoring case. Between shared words, those of
    the first sentence come first. A word that moved is shared in one place at most.
    """
    first_folded, other_folded = ([word.casefold() for word in words] for words in (first, other))
    places: list[tuple[int | None, int | None]] = []
    for kind, start, end, other_start, other_end in SequenceMatcher(
        None, first_folded, other_folded, False
    ).get_opcodes():
        if kind == "equal":
            places += zip(range(start, end), range(other_start, other_end), strict=True)
        else:
            places += [(word, None) for word in range(start, end)]
            places += [(None, word) for word in range(other_start, other_end)]
    names = tuple(_name(first, i, other, k) for i, k in places)
    return SharedAxis(tuple(i for i, _ in places), tuple(k for _, k in places), names)


def _name(first: Sequence[str], i: int | None, other: Sequence[str], k: int | None) -> str:
    written = dict.fromkeys(words[place] for words, place in ((first, i), (other, k)) if place is not None)
    return " / ".join(written)
