"""What lies near a vector among many: exact search, and a map of two dimensions by principal components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Single = Callable[[NDArray[Any]], NDArray[np.float32]]
"""The same numbers in single precision."""
Metric = Literal["cosine", "euclid"]
METRICS: tuple[Metric, ...] = get_args(Metric)
_BLOCK = 1024
"""Vectors that are multiplied at once: 4 MB in single precision at 1,024 units, which a processor's cache holds."""
_SPARE = 32
"""Candidates beyond those asked for, whose order single precision might have got wrong."""


@dataclass(frozen=True)
class Neighbour:
    """A vector near another."""

    row: int
    cosine: float
    """x · q / (|x| |q|), in [-1, 1]; 0 where either is nothing."""
    distance: float
    """|x - q|, not negative."""


def nearest(
    vectors: NDArray[Any],
    query: NDArray[Any],
    count: int = 10,
    metric: Metric = "cosine",
    without: NDArray[np.bool_] | None = None,
    single: Single | None = None,
) -> list[Neighbour]:
    """Return the `count` of `vectors` (N, d) that are nearest to `query` (d,), nearest first, of equals the first.

    Every vector is looked at: those of the largest cosine, or of the least Euclidean distance, are found in single
    precision, block by block, and put in order in double. Rows in `without`, (N,), are passed over. `single` turns a
    block into single precision where something does so faster than NumPy. Raise ValueError for another metric.
    """
    if metric not in METRICS:
        raise ValueError(f"the metric must be one of {', '.join(METRICS)}, not {metric!r}")
    scores = (
        np.concatenate(
            [
                _scores((single or _single)(vectors[start : start + _BLOCK]), query.astype(np.float32), metric)
                for start in range(0, len(vectors), _BLOCK)
            ]
        )
        if len(vectors)
        else np.zeros(0, np.float32)
    )
    if without is not None:
        scores[without] = -np.inf
    kept = min(count + _SPARE, int(np.isfinite(scores).sum()))
    if not kept or count < 1:
        return []
    # All that tie with the last are candidates: of equals the first are the nearest.
    candidates = np.flatnonzero(scores >= np.partition(scores, len(scores) - kept)[len(scores) - kept])
    exact, wanted = vectors[candidates].astype(np.float64), query.astype(np.float64)
    norms = np.linalg.norm(exact, axis=1) * np.linalg.norm(wanted)
    cosines = np.divide(exact @ wanted, norms, out=np.zeros(len(exact)), where=norms > 0)
    distances = np.linalg.norm(exact - wanted, axis=1)
    order = np.argsort(-cosines if metric == "cosine" else distances, kind="stable")[:count]
    return [Neighbour(int(candidates[k]), float(cosines[k]), float(distances[k])) for k in order]


def _single(block: NDArray[Any]) -> NDArray[np.float32]:
    return block.astype(np.float32, copy=False)


def _scores(block: NDArray[np.float32], query: NDArray[np.float32], metric: Metric) -> NDArray[np.float32]:
    """Return of each vector of a block (B, d) what is the larger the nearer it is to `query` (d,)."""
    if metric == "euclid":
        apart = block - query
        return -np.asarray(np.einsum("ij,ij->i", apart, apart), np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", block, block))
    shares: NDArray[np.float32] = np.divide(block @ query, norms, out=np.zeros(len(block), np.float32), where=norms > 0)
    return shares


@dataclass(frozen=True)
class PrincipalMap:
    """The plane through many vectors in which they differ most (Pearson 1901)."""

    mean: NDArray[np.float64]
    """(d,)."""
    axes: NDArray[np.float64]
    """(2, d), orthonormal, the one along which they differ most first; its largest entry is positive."""
    shares: tuple[float, float]
    """Of the whole variance, how much is along each axis, in [0, 1]."""

    def place(self, vectors: NDArray[Any]) -> NDArray[np.float64]:
        """Return where vectors (N, d) lie on the map, (N, 2)."""
        places: NDArray[np.float64] = (vectors.astype(np.float64) - self.mean) @ self.axes.T
        return places


def principal_map(vectors: NDArray[Any]) -> PrincipalMap:
    """Return the map of `vectors` (N, d), d at least 2: the eigenvectors of their covariance with the largest
    eigenvalues. Raise ValueError where there is no vector."""
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
