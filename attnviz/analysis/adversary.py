"""Adversarial attention of Jain & Wallace (2019): as far as possible from alpha, with almost the same output.

Their Eq. 4 to 6, for one step: the largest Jensen-Shannon divergence of alpha' from alpha with the total variation of
p(w) within a bound. Projected gradient ascent may miss the maximum, but its result respects the bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.distributions import climb, jensen_shannon
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.step_evaluation import PerturbedStep, StepEvaluation
from attnviz.trace import Trace

Array = NDArray[np.float64]

BOUND = 0.01
"""Bound on the total variation of p(w), as in Jain & Wallace."""

_INSIDE = 0.999
"""Share of the bound that is used, so that a single-precision network stays below it too."""
_STARTS, _STEPS = 3, 24
_NEAR_REAL, _NEAR_STRONGEST = (1, 0.5, 0.25, 0.12, 0.06, 0.03, 0.01), (0, 0.05, 0.1, 0.2, 0.4)
_PULLS, _PULL = 2, 0.99
_NEAR, _DAMPING = 1e-3, 0.01
_STEEPEST = 3.0
"""Largest slope of the divergence, which is infinite where a weight leaves 0."""


def adversary(trace: Trace, weights: Weights, step: int, bound: float = BOUND) -> PerturbedStep:
    """Return the perturbation farthest from alpha_i, by Jensen-Shannon divergence, that changes p(w) within `bound`.

    Change of p(w) is total variation. Projected gradient ascent starts from several distributions that respect the
    bound; its result is at least as far as any of them, and not always the farthest. Raise AttnvizError and IndexError
    as `perturbation_tests`, ValueError for a bound outside 0 to 1.
    """
    evaluation = StepEvaluation(trace, weights, step)
    return evaluation.perturbed(farthest(evaluation, bound)[None])[0]


def farthest(evaluation: StepEvaluation, bound: float = BOUND) -> Array:
    """Return the weights of `adversary`, (Tx,); raise ValueError for a bound outside 0 to 1."""
    if not 0 <= bound <= 1:
        raise ValueError(f"the bound must be from 0 to 1, not {bound!r}")
    real, limit = evaluation.alignment, _INSIDE * bound
    starts = _starts(evaluation, limit)
    # Climb from each start twice: along the gradient, and along the natural gradient of p(w).
    metrics = np.repeat(np.stack([np.eye(len(real)), _stride(evaluation)]), len(starts), axis=0)

    def settle(attentions: Array) -> tuple[Array, Array]:
        # Pull points outside the bound back towards alpha; the change grows almost linearly along that line.
        attentions, change = attentions.copy(), evaluation.change(attentions)
        for _ in range(_PULLS):
            over = change > limit
            if over.any():
                shares = _PULL * limit / change[over]
                attentions[over] = real + shares[:, None] * (attentions[over] - real)
                change[over] = evaluation.change(attentions[over])
        return attentions, np.where(change <= limit, jensen_shannon(attentions, real), -np.inf)

    def slope(attentions: Array) -> Array:
        gradient = np.log(np.maximum(attentions, 1e-12) / np.maximum(attentions + real, 1e-12))
        gradient = _level(np.maximum(gradient - gradient.max(axis=1, keepdims=True), -_STEEPEST))
        change, change_gradient = evaluation.change_and_slopes(attentions)
        change_gradient = _level(change_gradient)
        ascent, change_ascent = (np.einsum("nj,njk->nk", vectors, metrics) for vectors in (gradient, change_gradient))
        # Near the bound, move along it and not across it.
        overlap, sizes = (ascent * change_gradient).sum(axis=1), (change_ascent * change_gradient).sum(axis=1)
        shares = np.divide(
            overlap, sizes, out=np.zeros_like(overlap), where=(change > limit / 2) & (overlap > 0) & (sizes > 0)
        )
        tangent: Array = ascent - shares[:, None] * change_ascent
        return tangent

    points, divergences = climb(np.concatenate([starts, starts]), slope, settle, _STEPS)
    return _within_bound(evaluation, points[divergences.argmax()], bound)


def _stride(evaluation: StepEvaluation) -> Array:
    """Return the matrix that turns a gradient into a natural gradient of p(w), (Tx, Tx).

    It is the inverse of the Fisher information of the weights at alpha, damped by a multiple of the identity.
    """
    real, ends = evaluation.alignment, np.eye(len(evaluation.alignment))
    before, after = evaluation.probabilities, evaluation.distributions(real + _NEAR * (ends - real))
    turns = (after - before) / _NEAR
    information = (turns / np.maximum(before, 1e-300)) @ turns.T
    size = max(float(np.trace(information)) / len(real), 1e-300)
    stride = np.linalg.inv(information / size + _DAMPING * ends)
    return np.asarray(stride, dtype=np.float64)


def _within_bound(evaluation: StepEvaluation, attention: Array, bound: float) -> Array:
    """Return weights (Tx,) closer to alpha where `attention` exceeds the bound in double precision."""
    for share in (1.0, 0.999, 0.99, 0.9):
        nearer: Array = evaluation.alignment + share * (attention - evaluation.alignment)
        if evaluation.perturbed(nearer[None])[0].total_variation <= bound:
            return nearer
    return evaluation.alignment


def _starts(evaluation: StepEvaluation, limit: float) -> Array:
    """Return starting distributions (N, Tx) whose change is at most `limit`, where there are any.

    They are alpha, and the farthest points on lines from alpha, and from its strongest piece alone, to each source
    piece and to the uniform distribution without the strongest piece.
    """
    real, strongest = evaluation.alignment, np.eye(len(evaluation.alignment))[evaluation.alignment.argmax()]
    ends = np.concatenate([np.eye(len(real)), (1 - strongest)[None] / max(len(real) - 1, 1)])
    starts = [real[None]]
    for begin, shares in ((real, _NEAR_REAL), (strongest, _NEAR_STRONGEST)):
        attentions = (begin + np.array(shares)[:, None, None] * (ends - begin)).reshape(-1, len(real))
        far = np.where(evaluation.change(attentions) <= limit, jensen_shannon(attentions, real), -np.inf)
        # Where too few are within the bound, `settle` pulls the others back.
        starts.append(attentions[np.argsort(-far, kind="stable")[:_STARTS]])
    return np.concatenate(starts)


def _level(directions: Array) -> Array:
    """Return `directions` (N, Tx) projected onto the simplex: without their mean."""
    levelled: Array = directions - directions.mean(axis=1, keepdims=True)
    return levelled
