"""Distances between distributions, and gradient ascent on the simplex."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_LENGTHS = 0.25 ** np.arange(3)
"""Fractions of a move to try, the whole move first."""
_FIRST, _LONGEST, _SHORTEST = 0.3, 2.0, 1e-6


def total_variation(one: NDArray[np.floating], other: NDArray[np.floating]) -> Array:
    """Return 1/2 sum_w |p(w) - q(w)|: (..., K) and (..., K) to (...), from 0 (the same) to 1 (disjoint)."""
    found: Array = 0.5 * np.abs(one - other).sum(axis=-1, dtype=np.float64)
    return found


def jensen_shannon(one: Array, other: Array) -> Array:
    """Return 1/2 KL(p || m) + 1/2 KL(q || m) with m = (p + q) / 2, in bits, from 0 to 1.

    Shapes: (..., K) and (..., K) to (...).
    """
    middle = 0.5 * (one + other)
    bits: Array = 0.5 * (_relative_entropy(one, middle) + _relative_entropy(other, middle))
    # Rounding may make it negative.
    return np.maximum(bits, 0)


def _relative_entropy(one: Array, other: Array) -> Array:
    ratios = np.divide(one, other, out=np.ones(np.broadcast(one, other).shape), where=(one > 0) & (other > 0))
    bits: Array = (one * np.log2(ratios)).sum(axis=-1)
    return bits


def onto_simplex(points: Array) -> Array:
    """Return the distributions nearest to the `points` (N, Tx), (N, Tx) (Duchi et al. 2008)."""
    ordered = -np.sort(-points, axis=1)
    surplus = (ordered.cumsum(axis=1) - 1) / np.arange(1, points.shape[1] + 1)
    kept = (ordered > surplus).sum(axis=1)
    nearest = np.maximum(points - surplus[np.arange(len(points)), kept - 1, None], 0)
    distributions: Array = nearest / nearest.sum(axis=1, keepdims=True)
    return distributions


Settle = Callable[[Array], tuple[Array, Array]]
"""Maps distributions (M, Tx) to where they end, in the same shape, and to the objective there, (M,)."""


def climb(starts: Array, slope: Callable[[Array], Array], settle: Settle, steps: int) -> tuple[Array, Array]:
    """Return the distributions (N, Tx) that projected gradient ascent reaches from `starts`, and their objectives (N,).

    The objectives are never below those of the starts. `slope` maps distributions (M, Tx) to directions (M, Tx);
    `settle` may move a point back into an allowed region, or give it the objective -inf. Each of the `steps` steps
    tries the full projected move and shorter ones; the step length shrinks after a failed move and grows after a full
    one.
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
