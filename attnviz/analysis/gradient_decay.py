"""Summarise gradient norms: quartiles by recurrent steps from word to source piece; share of the attended piece.

The norms (`GradientNorms`) are given. `gradient_share` also returns its baseline, a gradient equal at all pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from attnviz.trace.parts import Array, GradientNorms

_MOST_BINS = 14


@dataclass(frozen=True, eq=False)
class GradientDecay:
    """Quartiles of gradient norms, by distance between word and source piece."""

    distances: Array
    """Mean number of steps in each of the B bins, (B,)."""
    start: Array
    """Gradient through s_0, the recurrence alone: lower quartile, median and upper quartile, (3, B)."""
    contexts: Array
    """Gradient through the contexts: lower quartile, median and upper quartile, (3, B)."""
    near: tuple[float, float]
    """Medians through s_0 and through the contexts, over the nearest quarter of all pairs."""
    far: tuple[float, float]
    """Medians through s_0 and through the contexts, over the farthest quarter of all pairs."""


def distances(steps: int, pieces: int) -> NDArray[np.int64]:
    """Return the number of recurrent steps between each word and each source piece, without contexts, (Ty, Tx).

    These are i decoder steps (from 0) back to s_0, computed from the backward annotation of the first piece, and from
    there j steps of the encoder to piece j (from 0).
    """
    i, j = np.indices((steps, pieces))
    return np.asarray(i + j, dtype=np.int64)


def gradient_quartiles(signals: GradientNorms) -> GradientDecay:
    """Return the quartiles of gradient norms by distance."""
    steps_between = distances(*signals.start.shape)
    end = int(steps_between.max()) + 1
    edges = np.unique(np.linspace(0, end, min(end, _MOST_BINS) + 1).round().astype(int))
    groups = [(steps_between >= low) & (steps_between < high) for low, high in pairwise(edges)]
    start, contexts = (
        np.stack([np.quantile(values[group], [0.25, 0.5, 0.75]) for group in groups], axis=1)
        for values in (signals.start, signals.contexts)
    )
    means = np.array([steps_between[group].mean() for group in groups])
    near, far = (
        (float(np.median(signals.start[pairs])), float(np.median(signals.contexts[pairs])))
        for pairs in (
            steps_between <= np.quantile(steps_between, 0.25),
            steps_between >= np.quantile(steps_between, 0.75),
        )
    )
    return GradientDecay(means, start, contexts, near, far)


def gradient_share(signals: GradientNorms, attended: NDArray[np.integer]) -> tuple[float, float]:
    """Return the share of the gradient that reaches the most attended piece, mean over words, and its baseline.

    `attended` has that piece for each word, (Ty,). The baseline is a gradient that reaches all pieces equally; both are
    from 0 to 1.
    """
    shares = signals.whole / np.maximum(signals.whole.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return float(shares[np.arange(len(attended)), attended].mean()), 1 / signals.whole.shape[1]
