"""Exact nearest-neighbour search among vectors, and a two-dimensional map by principal components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Single = Callable[[NDArray[Any]], NDArray[np.float32]]
"""Converts a block of vectors to single precision."""
Metric = Literal["cosine", "euclid"]
METRICS: tuple[Metric, ...] = get_args(Metric)
_BLOCK = 1024
"""Vectors of one product: 4 MB in single precision at 1,024 units, which fits a processor's cache."""
_SPARE = 32
"""Extra candidates, whose order single precision may have got wrong."""


@dataclass(frozen=True)
class Neighbour:
    """A vector near the query."""

    row: int
    cosine: float
    """x · q / (|x| |q|), in [-1, 1]; 0 where either is 0."""
    distance: float
    """|x - q|, from 0."""


def nearest(
    vectors: NDArray[Any],
    query: NDArray[Any],
    count: int = 10,
    metric: Metric = "cosine",
    excluded: NDArray[np.bool_] | None = None,
    to_single: Single | None = None,
) -> list[Neighbour]:
    """Return the `count` vectors of `vectors` (N, d) nearest to `query` (d,), nearest first, of equals the first.

    The search is exact: candidates by cosine or Euclidean distance are found in single precision, block by block, and
    sorted in double precision. Rows in `excluded`, (N,), are skipped. `to_single` converts blocks to single precision,
    for functions faster than NumPy. Raise ValueError for another metric.
    """
    if metric not in METRICS:
        raise ValueError(f"the metric must be one of {', '.join(METRICS)}, not {metric!r}")
    scores = (
        np.concatenate(
            [
                _scores((to_single or _single)(vectors[start : start + _BLOCK]), query.astype(np.float32), metric)
                for start in range(0, len(vectors), _BLOCK)
            ]
        )
        if len(vectors)
        else np.zeros(0, np.float32)
    )
    if excluded is not None:
        scores[excluded] = -np.inf
    candidate_count = min(count + _SPARE, int(np.isfinite(scores).sum()))
    if not candidate_count or count < 1:
        return []
    # All ties with the last candidate are candidates, so that of equals the first win.
    candidates = np.flatnonzero(
        scores >= np.partition(scores, len(scores) - candidate_count)[len(scores) - candidate_count]
    )
    exact, wanted = vectors[candidates].astype(np.float64), query.astype(np.float64)
    norms = np.linalg.norm(exact, axis=1) * np.linalg.norm(wanted)
    cosines = np.divide(exact @ wanted, norms, out=np.zeros(len(exact)), where=norms > 0)
    distances = np.linalg.norm(exact - wanted, axis=1)
    order = np.argsort(-cosines if metric == "cosine" else distances, kind="stable")[:count]
    return [Neighbour(int(candidates[k]), float(cosines[k]), float(distances[k])) for k in order]


def _single(block: NDArray[Any]) -> NDArray[np.float32]:
    return block.astype(np.float32, copy=False)


def _scores(block: NDArray[np.float32], query: NDArray[np.float32], metric: Metric) -> NDArray[np.float32]:
    """Return a score for each vector of a block (B, d) that increases with its nearness to `query` (d,)."""
    if metric == "euclid":
        differences = block - query
        return -np.asarray(np.einsum("ij,ij->i", differences, differences), np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", block, block))
    shares: NDArray[np.float32] = np.divide(block @ query, norms, out=np.zeros(len(block), np.float32), where=norms > 0)
    return shares


@dataclass(frozen=True)
class PrincipalMap:
    """The plane through many vectors with the largest variance (Pearson 1901)."""

    mean: NDArray[np.float64]
    """Mean of the vectors, (d,)."""
    axes: NDArray[np.float64]
    """Orthonormal axes, (2, d), largest variance first; the entry with the largest absolute value is positive."""
    shares: tuple[float, float]
    """Shares of the total variance along each axis, in [0, 1]."""

    def place(self, vectors: NDArray[Any]) -> NDArray[np.float64]:
        """Return the coordinates of vectors (N, d) on the map, (N, 2)."""
        places: NDArray[np.float64] = (vectors.astype(np.float64) - self.mean) @ self.axes.T
        return places


def principal_map(vectors: NDArray[Any]) -> PrincipalMap:
    """Return the map of `vectors` (N, d), d at least 2, from the two largest eigenvalues of their covariance.

    Raise ValueError without vectors.
    """
    if not len(vectors):
        raise ValueError("there is no vector to draw a map of")
    exact = vectors.astype(np.float64)
    mean = exact.mean(axis=0)
    centred = exact - mean
    values, axes = np.linalg.eigh(centred.T @ centred)
    first = axes[:, [-1, -2]].T
    first = first * np.sign(first[np.arange(2), np.abs(first).argmax(axis=1)])[:, None]
    whole = max(float(values.sum()), np.finfo(np.float64).tiny)
    return PrincipalMap(mean, first, (max(float(values[-1]), 0) / whole, max(float(values[-2]), 0) / whole))
