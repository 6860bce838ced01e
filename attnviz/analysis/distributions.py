"""Distances between distributions (total variation, Jensen-Shannon), and gradient ascent on the simplex."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_LENGTHS = 0.25 ** np.arange(3)
"""Fractions of a move to try, the whole move first."""
_FIRST, _LONGEST, _SHORTEST = 0.3, 2.0, 1e-6
"""Step lengths: the first, the largest, and the one below which the ascent ends."""


def total_variation(p: NDArray[np.floating], q: NDArray[np.floating]) -> Array:
    """Return 1/2 sum_w |p(w) - q(w)|: (..., K) and (..., K) to (...), from 0 (the same) to 1 (disjoint)."""
    distance: Array = 0.5 * np.abs(p - q).sum(axis=-1, dtype=np.float64)
    return distance


def jensen_shannon(p: Array, q: Array) -> Array:
    """Return 1/2 KL(p || m) + 1/2 KL(q || m) with m = (p + q) / 2, in bits, from 0 to 1.

    Shapes: (..., K) and (..., K) to (...).
    """
    middle = 0.5 * (p + q)
    bits: Array = 0.5 * (_relative_entropy(p, middle) + _relative_entropy(q, middle))
    # Rounding may make it negative.
    return np.maximum(bits, 0)


def _relative_entropy(p: Array, q: Array) -> Array:
    ratios = np.divide(p, q, out=np.ones(np.broadcast(p, q).shape), where=(p > 0) & (q > 0))
    bits: Array = (p * np.log2(ratios)).sum(axis=-1)
    return bits


def simplex_projection(points: Array) -> Array:
    """Return the distributions nearest to the `points` (N, Tx), (N, Tx) (Duchi et al. 2008)."""
    ordered = -np.sort(-points, axis=1)
    surplus = (ordered.cumsum(axis=1) - 1) / np.arange(1, points.shape[1] + 1)
    support = (ordered > surplus).sum(axis=1)
    nearest = np.maximum(points - surplus[np.arange(len(points)), support - 1, None], 0)
    distributions: Array = nearest / nearest.sum(axis=1, keepdims=True)
    return distributions


Evaluate = Callable[[Array], tuple[Array, Array]]
"""Maps distributions (M, Tx) to allowed ones nearby, in the same shape, and to their objectives, (M,)."""


def gradient_ascent(
    start_points: Array, direction: Callable[[Array], Array], evaluate: Evaluate, steps: int
) -> tuple[Array, Array]:
    """Return the distributions (N, Tx) that projected gradient ascent reaches, and their objectives (N,).

    The objectives are never below those of the `start_points`. `direction` maps distributions (M, Tx) to directions
    (M, Tx); `evaluate` may move a point back into an allowed region, or give it the objective -inf. Each of the `steps`
    steps tries the full projected move and shorter ones; the step length shrinks after a failed move and grows after a
    full one.
    """
    points, objectives = evaluate(start_points)
    lengths, rows = np.full(len(start_points), _FIRST), np.arange(len(start_points))
    for _ in range(steps):
        directions = direction(points)
        directions -= directions.mean(axis=1, keepdims=True)
        sizes = np.abs(directions).max(axis=1, keepdims=True)
        moved = simplex_projection(points + lengths[:, None] * directions / np.maximum(sizes, _SHORTEST))
        candidates = points[:, None] + _LENGTHS[:, None] * (moved - points)[:, None]
        ends, candidate_objectives = evaluate(candidates.reshape(-1, candidates.shape[-1]))
        ends, candidate_objectives = ends.reshape(candidates.shape), candidate_objectives.reshape(candidates.shape[:2])
        best = candidate_objectives.argmax(axis=1)
        better = candidate_objectives[rows, best] > objectives
        points = np.where(better[:, None], ends[rows, best], points)
        objectives = np.where(better, candidate_objectives[rows, best], objectives)
        lengths = np.minimum(lengths * np.where(better & (best == 0), 2, _LENGTHS[best]), _LONGEST)
        lengths[~better] *= _LENGTHS[-1]
        if np.all(lengths < _SHORTEST):
            break
    return points, objectives
