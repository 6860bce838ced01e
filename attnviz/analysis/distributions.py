"""Distances between distributions, and moves on the simplex they live on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_LENGTHS = 0.25 ** np.arange(3)
"""Shares of a move that are tried, the whole of it first."""
_FIRST, _LONGEST, _SHORTEST = 0.3, 2.0, 1e-6


def total_variation(one: NDArray[np.floating], other: NDArray[np.floating]) -> Array:
    """1/2 sum_w |p(w) - q(w)|: (..., K) and (..., K) to (...), from 0 (alike) to 1 (nothing in common)."""
    found: Array = 0.5 * np.abs(one - other).sum(axis=-1, dtype=np.float64)
    return found


def jensen_shannon(one: Array, other: Array) -> Array:
    """1/2 KL(p || m) + 1/2 KL(q || m) with m = (p + q) / 2, in bits: (..., K) and (..., K) to (...), from 0 to 1."""
    middle = 0.5 * (one + other)
    bits: Array = 0.5 * (_relative_entropy(one, middle) + _relative_entropy(other, middle))
    # Rounding may leave it below 0.
    return np.maximum(bits, 0)


def _relative_entropy(one: Array, other: Array) -> Array:
    ratios = np.divide(one, other, out=np.ones(np.broadcast(one, other).shape), where=(one > 0) & (other > 0))
    bits: Array = (one * np.log2(ratios)).sum(axis=-1)
    return bits


def onto_simplex(points: Array) -> Array:
    """Return the nearest distributions to the `points` (N, Tx), (N, Tx): from 0, rows sum to 1 (Duchi et al. 2008)."""
    ordered = -np.sort(-points, axis=1)
    surplus = (ordered.cumsum(axis=1) - 1) / np.arange(1, points.shape[1] + 1)
    kept = (ordered > surplus).sum(axis=1)
    nearest = np.maximum(points - surplus[np.arange(len(points)), kept - 1, None], 0)
    distributions: Array = nearest / nearest.sum(axis=1, keepdims=True)
    return distributions


Settle = Callable[[Array], tuple[Array, Array]]
"""Returns where moves to distributions (M, Tx) end, in their shape, and how high that is, (M,)."""


def climb(starts: Array, slope: Callable[[Array], Array], settle: Settle, steps: int) -> tuple[Array, Array]:
    """Return the distributions (N, Tx) that projected gradient ascent reaches from `starts` (N, Tx), and their heights
    (N,), never below those of the starts.

    `slope` maps distributions (M, Tx) to directions (M, Tx); `settle` may pull a move back to where it is allowed, or
    give it the height -inf. Each of the `steps` moves along its slope and onto the simplex, and tries that move and
    shorter ones; a move that leads nowhere is shortened, one that is taken whole lengthened.
    """
    points, heights = settle(starts)
    lengths, rows = np.full(len(starts), _FIRST), np.arange(len(starts))
    for _ in range(steps):
        directions = slope(points)
        directions -= directions.mean(axis=1, keepdims=True)
        sizes = np.abs(directions).max(axis=1, keepdims=True)
        moved = onto_simplex(points + lengths[:, None] * directions / np.maximum(sizes, _SHORTEST))
        tried = points[:, None] + _LENGTHS[:, None] * (moved - points)[:, None]
        ends, reached = settle(tried.reshape(-1, tried.shape[-1]))
        ends, reached = ends.reshape(tried.shape), reached.reshape(tried.shape[:2])
        best = reached.argmax(axis=1)
        better = reached[rows, best] > heights
        points = np.where(better[:, None], ends[rows, best], points)
        heights = np.where(better, reached[rows, best], heights)
        lengths = np.minimum(lengths * np.where(better & (best == 0), 2, _LENGTHS[best]), _LONGEST)
        lengths[~better] *= _LENGTHS[-1]
        if np.all(lengths < _SHORTEST):
            break
    return points, heights
