"""Attention weights that maximise the probability of a piece, by gradient ascent on the simplex."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.distributions import climb
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.step_evaluation import PerturbedStep, StepEvaluation
from attnviz.trace import Trace

Array = NDArray[np.float64]

_STARTS, _STEPS = 4, 24


def best_attention(trace: Trace, weights: Weights, step: int, piece_id: int | None = None) -> PerturbedStep:
    """Return the perturbation that makes a piece, y_i by default, as likely as possible at 0-based `step`.

    The ascent starts from alpha, from uniform weights, and from the source pieces that alone make it likeliest. The
    result is at least as likely as with alpha or with any single source piece; it may be a local maximum. Raise
    AttnvizError and IndexError as `perturbation_tests`, IndexError also where the vocabulary has no such piece.
    """
    evaluation = StepEvaluation(trace, weights, step)
    wanted = evaluation.chosen if piece_id is None else range(len(evaluation.probabilities))[piece_id]
    count = len(evaluation.alignment)
    alone = evaluation.readouts.log_probabilities(evaluation.step, np.eye(count))[:, wanted]
    first = np.eye(count)[np.argsort(-alone, kind="stable")[:_STARTS]]
    starts = np.concatenate([first, evaluation.alignment[None], np.full((1, count), 1 / count)])

    def slope(attentions: Array) -> Array:
        return evaluation.log_likelihood_and_slopes(attentions, wanted)[1]

    def settle(attentions: Array) -> tuple[Array, Array]:
        return attentions, evaluation.readouts.log_probabilities(evaluation.step, attentions)[:, wanted]

    points, objectives = climb(starts, slope, settle, _STEPS)
    return evaluation.perturbed(points[objectives.argmax()][None])[0]
