"""Effect of shuffled attention weights on the output, for every step, as in Jain & Wallace (2019)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.distributions import total_variation
from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.perturbation_tests import PERMUTATIONS, permuted
from attnviz.analysis.recomputation import Weights
from attnviz.text import EOS
from attnviz.trace import Trace

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shuffled:
    """For each of Ty steps, the effect of shuffling its weights."""

    largest: Array
    """max_j alpha_ij, (Ty,), in (0, 1]."""
    change: Array
    """Median total variation of p(w) over the permutations, (Ty,), from 0 to 1."""
    kept: Array
    """Share of permutations that write the same piece as the step's own weights, (Ty,), from 0 to 1."""


def shuffled(trace: Trace, weights: Weights, *, permutations: int = PERMUTATIONS, seed: int = 0) -> Shuffled:
    """Return the effect of the permutations of `perturbation_tests` on every step, correct to about 1e-6.

    The same `seed` gives the same permutations. Raise AttnvizError where the model has no attention or the weights are
    another model's, ValueError for fewer than one permutation.
    """
    if permutations < 1:
        raise ValueError(f"there must be at least one permutation, not {permutations!r}")
    readouts = Readouts(trace, weights)
    real = readouts.alignment / readouts.alignment.sum(axis=1, keepdims=True)
    attentions = np.stack([permuted(row, permutations, seed, step) for step, row in enumerate(real)])
    change, unchanged = np.empty(attentions.shape[:2]), np.empty(attentions.shape[:2])
    for steps in readouts.blocks(permutations + 1):
        logits = readouts.rough_logits(steps, np.concatenate([real[steps, None], attentions[steps]], axis=1))
        written = logits[..., EOS:].argmax(axis=2)
        logits -= logits.max(axis=2, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(axis=2, keepdims=True)
        change[steps] = total_variation(logits[:, 1:], logits[:, :1])
        unchanged[steps] = written[:, 1:] == written[:, :1]
    return Shuffled(readouts.alignment.max(axis=1), np.median(change, axis=1), unchanged.mean(axis=1))
