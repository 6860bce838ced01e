"""The context vector of one step by the units in which it is itself: what each source word brings to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.trace import Trace

UNITS = 24
"""Units of a context vector that are looked at one by one."""
WORDS = 6
"""Source words of largest weight that are added one by one; the rest is one more term."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ContextUnits:
    """K units of c_i = sum_j alpha_ij h_j, and the terms of its sum by source words, in the order of the sentence.

    All counts are from 0, all numbers float64.
    """

    units: NDArray[np.intp]
    """Those in which c_i is furthest from the mean of the contexts of all steps, the furthest first, (K,)."""
    mean: Array
    """That mean in these units, (K,)."""
    words: tuple[int, ...]
    """The source words with a term of their own."""
    terms: Array
    """What each word's pieces bring, sum of alpha_ij h_j, (W, K); last, where there are more words, all others."""
    weights: Array
    """The sums of their alpha_ij, (W,); they add up to 1."""
    context: Array
    """c_i in these units, (K,): what the terms add up to."""
    cosines: Array
    """The cosine of c_i, all of its units, with each annotation h_j, (Tx,), in [-1, 1]; 0 where either is 0."""

    @property
    def carried(self) -> Array:
        """The sum before each term, (W, K): what is carried over to it."""
        return np.vstack([np.zeros(len(self.units)), np.cumsum(self.terms, axis=0)[:-1]])

    @property
    def nearest(self) -> NDArray[np.intp]:
        """The source pieces, that whose annotation points most like c_i first, (Tx,)."""
        return np.argsort(-self.cosines, kind="stable")


def context_units(trace: Trace, step: int, count: int = UNITS) -> ContextUnits:
    """Take the context of 0-based `step` apart; raise ValueError without attention, where it is the same at all steps,
    and IndexError without the step."""
    if not trace.attends:
        raise ValueError("without attention a context is no sum of annotations, and the same at every step")
    alpha, annotations = trace.alignment[step].astype(np.float64), trace.annotations.astype(np.float64)
    contexts = trace.contexts.astype(np.float64)
    mean = contexts.mean(axis=0)
    units = np.argsort(-np.abs(contexts[step] - mean), kind="stable")[:count]
    groups = [list(group) for group in trace.words().source_groups]
    shares = np.array([alpha[group].sum() for group in groups])
    chosen = np.sort(np.argsort(-shares, kind="stable")[:WORDS])
    taken = [groups[k] for k in chosen]
    rest = [j for k, group in enumerate(groups) if k not in chosen for j in group]
    taken += [rest] if rest else []
    return ContextUnits(
        units,
        mean[units],
        tuple(chosen.tolist()),
        np.stack([alpha[group] @ annotations[np.ix_(group, units)] for group in taken]),
        np.array([alpha[group].sum() for group in taken]),
        contexts[step, units],
        _cosines(contexts[step], annotations),
    )


def _cosines(vector: Array, others: Array) -> Array:
    lengths = np.linalg.norm(others, axis=1) * np.linalg.norm(vector)
    cosines: Array = np.divide(others @ vector, lengths, out=np.zeros(len(others)), where=lengths > 0)
    return np.clip(cosines, -1, 1)
