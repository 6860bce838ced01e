"""Perturbation tests of one step: uniform, permuted and adversarial attention, and attention without its maximum.

Jain & Wallace (2019) asked whether other attention gives the same output. Wiegreffe & Pinter (2019) replied that the
existence of such attention does not make the model's meaningless. Moradi et al. (2019) tested translation. A test shows
whether this word depends on this attention. It does not show what the model would have learnt without attention, nor
that attention which matters is a reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.adversary import BOUND, adversarial_weights
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.step_evaluation import PerturbedStep, StepEvaluation
from attnviz.trace import Trace

Array = NDArray[np.float64]

PERMUTATIONS = 100
"""Number of permutations, as in Jain & Wallace (2019)."""


@dataclass(frozen=True, eq=False)
class PerturbationTests:
    """A step with its own attention and with perturbed attention."""

    step: int
    """0-based step."""
    real: PerturbedStep
    uniform: PerturbedStep
    """Equal weights on all source pieces."""
    permuted: tuple[PerturbedStep, ...]
    """The step's own weights, randomly permuted."""
    without_strongest: PerturbedStep
    """The largest weight set to 0, the others renormalised."""
    adversary: PerturbedStep
    """The farthest weights that keep p(w) nearly unchanged: see `adversary`."""

    @property
    def change_when_permuted(self) -> float:
        """Median total variation over the permutations."""
        return float(np.median([perturbed.total_variation for perturbed in self.permuted]))

    @property
    def kept_when_permuted(self) -> float:
        """Share of permutations that write the same piece as the step's own weights."""
        return float(np.mean([perturbed.piece_id == self.real.piece_id for perturbed in self.permuted]))


def perturbation_tests(
    trace: Trace,
    weights: Weights,
    step: int,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    bound: float = BOUND,
) -> PerturbationTests:
    """Return the perturbation tests of 0-based `step`.

    A `seed` gives the same `permutations` every time; the adversary keeps the total variation of p(w) within `bound`.
    `weights` are those of the model that made the trace (`load_weights`). Raise AttnvizError where they are another
    model's or the model has no attention, IndexError where there is no such step, and ValueError for fewer than one
    permutation or a bound outside 0 to 1.
    """
    if permutations < 1:
        raise ValueError(f"there must be at least one permutation, not {permutations!r}")
    evaluation = StepEvaluation(trace, weights, step)
    count = len(evaluation.alignment)
    attentions = np.concatenate(
        [
            evaluation.alignment[None],
            np.full((1, count), 1 / count),
            without_strongest(evaluation.alignment)[None],
            permuted(evaluation.alignment, permutations, seed, evaluation.step),
            adversarial_weights(evaluation, bound)[None],
        ]
    )
    real, uniform, without_largest, *permuted_steps, adversary = evaluation.perturbed(attentions)
    return PerturbationTests(evaluation.step, real, uniform, tuple(permuted_steps), without_largest, adversary)


def permuted(alignment: Array, count: int, seed: int, step: int) -> Array:
    """Return `count` random permutations of the weights (Tx,) of 0-based `step`, (count, Tx).

    They depend only on `seed` and `step`.
    """
    generator = np.random.default_rng((seed, step))
    permutations: Array = generator.permuted(np.broadcast_to(alignment, (count, len(alignment))), axis=1)
    return permutations


def without_strongest(alignment: Array) -> Array:
    """Return the weights (Tx,) with the largest set to 0 and the others renormalised, (Tx,).

    Where the others were all 0, they become equal.
    """
    strongest = np.arange(len(alignment)) == alignment.argmax()
    others = np.where(strongest, 0, alignment)
    if not others.any():
        others = np.where(strongest, 0.0, 1.0)
    weights: Array = others / max(others.sum(), np.finfo(np.float64).tiny)
    return weights
