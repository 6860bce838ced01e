"""How far learning signals travel: the lengths of gradients against the number of recurrent steps between a word and a
source piece."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from attnviz.trace.attributions import Signals

Array = NDArray[np.float64]

_MOST_BINS = 14


@dataclass(frozen=True, eq=False)
class Reach:
    """Quartiles of the lengths of gradients, over all words and source pieces that are about as far apart."""

    distances: Array
    """Mean number of steps of those in each of the B bins, (B,)."""
    start: Array
    """By s_0, the recurrence alone: lower quartile, median and upper quartile, (3, B)."""
    contexts: Array
    """By the contexts, likewise."""
    near: tuple[float, float]
    """Medians of both ways, by s_0 and by the contexts, over the nearest quarter of all pairs."""
    far: tuple[float, float]
    """The same over the farthest quarter."""
    tenth: float
    """Steps over which the signal by s_0 falls to a tenth, from a line through all logarithms (least squares); inf
    where it does not fall."""


def distances(steps: int, pieces: int) -> NDArray[np.int64]:
    """Return how many recurrent steps lie between each word and each source piece on the way that needs no context,
    (Ty, Tx): i decoder steps (from 0) back to s_0, made of the backward annotation of the first piece, and from there j
    steps of the encoder to piece j (from 0)."""
    i, j = np.indices((steps, pieces))
    return np.asarray(i + j, dtype=np.int64)


def reach(signals: Signals) -> Reach:
    """Return how the signals fall with the distance."""
    apart = distances(*signals.start.shape)
    end = int(apart.max()) + 1
    edges = np.unique(np.linspace(0, end, min(end, _MOST_BINS) + 1).round().astype(int))
    groups = [(apart >= low) & (apart < high) for low, high in pairwise(edges)]
    start, contexts = (
        np.stack([np.quantile(values[group], [0.25, 0.5, 0.75]) for group in groups], axis=1)
        for values in (signals.start, signals.contexts)
    )
    means = np.array([apart[group].mean() for group in groups])
    near, far = (
        (float(np.median(signals.start[pairs])), float(np.median(signals.contexts[pairs])))
        for pairs in (apart <= np.quantile(apart, 0.25), apart >= np.quantile(apart, 0.75))
    )
    return Reach(means, start, contexts, near, far, _tenth(apart, signals.start))


def focus(signals: Signals, looked: NDArray[np.integer]) -> tuple[float, float]:
    """Return which share of what reaches the source reaches the one piece that each word is about, (Ty,) in `looked`,
    as the mean over the words, and what it would be if all pieces got the same: both from 0 to 1."""
    shares = signals.whole / np.maximum(signals.whole.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return float(shares[np.arange(len(looked)), looked].mean()), 1 / signals.whole.shape[1]


def _tenth(apart: NDArray[np.int64], lengths: Array) -> float:
    """Return how many steps take a signal to a tenth, by the line through its logarithms."""
    known = lengths > 0
    if len(np.unique(apart[known])) < 2:
        return np.inf
    slope = float(np.polyfit(apart[known], np.log10(lengths[known]), 1)[0])
    return -1 / slope if slope < 0 else np.inf
