"""Find stretches of an alignment that have drifted: their links run parallel to the diagonal, one token off.

Off-by-one errors of toolkits (a shifted decoder input, a missing or added end mark) look plausible on a heatmap. The
words that a sentence and its translation share (numbers, names, punctuation) give them away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

LEAST_LENGTH = 3
"""Target tokens of the shortest stretch."""
LEAST_ANCHORS = 2
"""Shared tokens that must be one token off; one alone may be linked wrongly."""


class Drift(NamedTuple):
    """A stretch of target tokens whose links are one source token off."""

    first: int
    """First target token, from 0."""
    last: int
    offset: int
    """-1 where the links point at the token before the right one, 1 where they point at the token after it."""


def drifts(alignment: ArrayLike, source: Sequence[str], target: Sequence[str]) -> list[Drift]:
    """Return the drifted stretches of an alignment (Ty, Tx) between the tokens of `source` and `target`, in order.

    Each target token is linked to the source token of its largest weight. An anchor is a token that occurs once on each
    side, in upper or lower case. A stretch has at least `LEAST_LENGTH` tokens, each linked to the source token after
    that of the one before; at least `LEAST_ANCHORS` are anchors, and all of these are off by the same token.
    """
    weights = np.asarray(alignment, dtype=np.float64)
    if not weights.size:
        return []
    linked = np.where(weights.any(axis=1), weights.argmax(axis=1), -2 * len(source))
    offsets = {i: int(linked[i]) - j for i, j in _anchors(source, target)}
    found = []
    for first, last in _diagonals(linked.tolist()):
        off = {offset for i, offset in offsets.items() if first <= i <= last}
        count = sum(first <= i <= last for i in offsets)
        if last - first + 1 >= LEAST_LENGTH and count >= LEAST_ANCHORS and len(off) == 1 and off <= {-1, 1}:
            found.append(Drift(first, last, off.pop()))
    return found


def _anchors(source: Sequence[str], target: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the (target, source) indices of tokens that occur once on each side."""
    folded = [[token.casefold() for token in side] for side in (source, target)]
    counts = [Counter(side) for side in folded]
    for i, token in enumerate(folded[1]):
        if counts[0][token] == counts[1][token] == 1:
            yield i, folded[0].index(token)


def _diagonals(linked: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last index of each longest run in which every value is one more than that before."""
    first = 0
    for i in range(1, len(linked) + 1):
        if i == len(linked) or linked[i] != linked[i - 1] + 1:
            yield first, i - 1
            first = i
