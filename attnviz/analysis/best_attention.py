"""Attention weights that maximise the probability of a piece, by gradient ascent on the simplex."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.distributions import gradient_ascent
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.step_evaluation import PerturbedStep, StepEvaluation
from attnviz.trace import Trace

Array = NDArray[np.float64]

_STARTS, _STEPS = 4, 24


def best_attention(trace: Trace, weights: Weights, step: int, piece_id: int | None = None) -> PerturbedStep:
    """Return the perturbation that makes a piece, y_i by default, as likely as possible at 0-based `step`.

    The ascent starts from alpha, from uniform weights, and from the source pieces that alone make it likeliest. The
    result is at least as likely as with alpha or with any single source piece; it may be a local maximum. Raise
    AttnvizError where the model has no attention or the weights are another model's, IndexError where there is no such
    step or piece.
    """
    evaluation = StepEvaluation(trace, weights, step)
    target_id = evaluation.target_id if piece_id is None else range(len(evaluation.probabilities))[piece_id]
    count = len(evaluation.alignment)
    single_piece_logs = evaluation.readouts.log_probabilities(evaluation.step, np.eye(count))[:, target_id]
    vertices = np.eye(count)[np.argsort(-single_piece_logs, kind="stable")[:_STARTS]]
    start_points = np.concatenate([vertices, evaluation.alignment[None], np.full((1, count), 1 / count)])

    def direction(attentions: Array) -> Array:
        return evaluation.log_likelihood_and_slopes(attentions, target_id)[1]

    def evaluate(attentions: Array) -> tuple[Array, Array]:
        return attentions, evaluation.readouts.log_probabilities(evaluation.step, attentions)[:, target_id]

    points, objectives = gradient_ascent(start_points, direction, evaluate, _STEPS)
    return evaluation.perturbed(points[objectives.argmax()][None])[0]
