"""Numbers that sum up an alignment. They belong to pieces, as the network computed them, unless merged rows go in."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnviz.trace.looks import Looks


def entropy(alignment: ArrayLike) -> NDArray[np.float64]:
    """H_i = -sum_j alpha_ij log2 alpha_ij, in bits: (Ty, Tx) to (Ty,), from 0 to log2 Tx.

    0 where a target piece looked at one source piece alone, log2 Tx where it looked at all alike.
    """
    rows = np.asarray(alignment, dtype=np.float64)
    logarithms = np.log2(np.where(rows > 0, rows, 1))
    bits: NDArray[np.float64] = (rows * -logarithms).sum(axis=-1)
    return bits


def coverage(alignment: ArrayLike) -> NDArray[np.float64]:
    """sum_i alpha_ij: (Ty, Tx) to (Tx,), how much each source piece was looked at; the sum is Ty."""
    total: NDArray[np.float64] = np.asarray(alignment, dtype=np.float64).sum(axis=0)
    return total


def links(alignment: ArrayLike, threshold: float | None = None) -> list[tuple[int, int]]:
    """Return (source, target) links of a (target words, source words) matrix, sorted, 0-based.

    Each target word is linked to the source word it looked at most (the first of equals), or, given a
    `threshold`, to every source word with at least that much of its attention. One that looked at nothing has none.
    """
    rows = np.asarray(alignment, dtype=np.float64)
    if threshold is None:
        some = np.flatnonzero(rows.any(axis=1))
        return sorted(zip(rows[some].argmax(axis=1).tolist(), some.tolist(), strict=True))
    i, j = np.nonzero(rows >= threshold)
    return sorted(zip(j.tolist(), i.tolist(), strict=True))


def weight_order(trace: Looks, step: int) -> list[int]:
    """Return the 0-based source pieces of 0-based `step` by weight, largest first, ties in sentence order."""
    return [int(j) for j in np.argsort(-trace.alignment[step], kind="stable")]


def looks_alike(trace: Looks, step: int) -> bool:
    """Return whether 0-based `step` looks at all of several source pieces alike, to a millionth of the weight."""
    weights = trace.alignment[step]
    return len(weights) > 1 and float(np.ptp(weights)) < 1e-6
