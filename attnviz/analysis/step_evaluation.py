"""Evaluate one step with other attention weights: distances, gradients, and search by projected gradient ascent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.recomputation import Weights
from attnviz.arguments import check_whole_argument
from attnviz.languages import gettext
from attnviz.text import EOS
from attnviz.trace import Trace
from attnviz.trace.drawing import step_index
from attnviz.trace.parts import Array, OneLine

_LENGTHS = 0.25 ** np.arange(3)
"""Fractions of a move to try, the whole move first."""
_FIRST, _LONGEST, _SHORTEST = 0.3, 2.0, 1e-6
"""Step lengths: the first, the largest, and the one below which the ascent ends."""


def total_variation(p: NDArray[np.floating], q: NDArray[np.floating]) -> Array:
    """Return 1/2 sum_w |p(w) - q(w)|: (..., K) and (..., K) to (...), from 0 (the same) to 1 (disjoint)."""
    distance: Array = 0.5 * np.abs(p - q).sum(axis=-1, dtype=np.float64)
    return distance


def jensen_shannon(p: Array, q: Array) -> Array:
    """Return 1/2 KL(p || m) + 1/2 KL(q || m) with m = (p + q) / 2, in bits, from 0 to 1.

    Shapes: (..., K) and (..., K) to (...).
    """
    middle = 0.5 * (p + q)
    bits: Array = 0.5 * (_relative_entropy(p, middle) + _relative_entropy(q, middle))
    # Rounding may make it negative.
    return np.maximum(bits, 0)


def _relative_entropy(p: Array, q: Array) -> Array:
    ratios = np.divide(p, q, out=np.ones(np.broadcast(p, q).shape), where=(p > 0) & (q > 0))
    bits: Array = (p * np.log2(ratios)).sum(axis=-1)
    return bits


def simplex_projection(points: Array) -> Array:
    """Return the distributions nearest to the `points` (N, Tx), (N, Tx) (Duchi et al. 2008)."""
    ordered = -np.sort(-points, axis=1)
    surplus = (ordered.cumsum(axis=1) - 1) / np.arange(1, points.shape[1] + 1)
    support = (ordered > surplus).sum(axis=1)
    nearest = np.maximum(points - surplus[np.arange(len(points)), support - 1, None], 0)
    distributions: Array = nearest / nearest.sum(axis=1, keepdims=True)
    return distributions


Evaluate = Callable[[Array], tuple[Array, Array]]
"""Maps distributions (M, Tx) to allowed ones nearby, in the same shape, and to their objectives, (M,)."""


def gradient_ascent(
    start_points: Array, direction: Callable[[Array], Array], evaluate: Evaluate, steps: int
) -> tuple[Array, Array]:
    """Return the distributions (N, Tx) that projected gradient ascent reaches, and their objectives (N,).

    The objectives are never below those of the `start_points`. `direction` maps distributions (M, Tx) to directions
    (M, Tx); `evaluate` may move a point back into an allowed region, or give it the objective -inf. Each of the `steps`
    steps tries the full projected move and shorter ones; the step length shrinks after a failed move and grows after a
    full one.
    """
    points, objectives = evaluate(start_points)
    lengths, rows = np.full(len(start_points), _FIRST), np.arange(len(start_points))
    for _ in range(steps):
        directions = direction(points)
        directions -= directions.mean(axis=1, keepdims=True)
        sizes = np.abs(directions).max(axis=1, keepdims=True)
        moved = simplex_projection(points + lengths[:, None] * directions / np.maximum(sizes, _SHORTEST))
        candidates = points[:, None] + _LENGTHS[:, None] * (moved - points)[:, None]
        ends, candidate_objectives = evaluate(candidates.reshape(-1, candidates.shape[-1]))
        ends, candidate_objectives = ends.reshape(candidates.shape), candidate_objectives.reshape(candidates.shape[:2])
        best = candidate_objectives.argmax(axis=1)
        better = candidate_objectives[rows, best] > objectives
        points = np.where(better[:, None], ends[rows, best], points)
        objectives = np.where(better, candidate_objectives[rows, best], objectives)
        lengths = np.minimum(lengths * np.where(better & (best == 0), 2, _LENGTHS[best]), _LONGEST)
        lengths[~better] *= _LENGTHS[-1]
        if np.all(lengths < _SHORTEST):
            break
    return points, objectives


@dataclass(frozen=True, eq=False, repr=False)
class PerturbedStep(OneLine):
    """One step with other attention weights; the rest of the step is unchanged."""

    weights: Array
    """The attention weights of the test, (Tx,)."""
    probabilities: Array
    """Output distribution p(w), (K,)."""
    divergence: float
    """Jensen-Shannon divergence of the weights from alpha_i, in bits, from 0 to 1."""
    total_variation: float
    """Total variation of p(w) from that with alpha_i, from 0 to 1."""
    likelihood: float
    """p(y_i) of the piece in the translation."""

    @property
    def piece_id(self) -> int:
        """Id of the likeliest piece that has text or is `</s>`."""
        return int(self.probabilities[EOS:].argmax()) + EOS

    def top(self, k: int = 10) -> list[tuple[int, float]]:
        """Return the likeliest pieces.

        Args:
            k: Number of pieces.

        Returns:
            Ids and probabilities, likeliest first.
        """
        check_whole_argument(gettext("number of candidates k"), k, 1, len(self.probabilities))
        order = np.argsort(-self.probabilities, kind="stable")[:k]
        return [(int(piece), float(self.probabilities[piece])) for piece in order]


class StepEvaluation:
    """One step, prepared for other attention weights."""

    def __init__(self, trace: Trace, step: int, weights: Weights | None = None) -> None:
        """Take 0-based `step` of `trace`; `weights` are those of its model.

        Raise AttnvizError where the model has no attention or the weights are another model's, or where there
        is no such step.
        """
        self.readouts = Readouts(trace, weights)
        self.step = step_index(trace, step)
        self.target_id = trace.target_ids[self.step]
        """Id of y_i."""
        # In single precision the sum differs slightly from 1, which would show in double-precision comparisons.
        row = self.readouts.alignment[self.step]
        self.alignment: Array = row / row.sum()
        """alpha_i, (Tx,)."""

    @cached_property
    def probabilities(self) -> Array:
        """p(w) of the step with alpha_i, (K,)."""
        p: Array = np.exp(self.readouts.log_probabilities(self.step, self.alignment[None])[0])
        return p

    def distributions(self, attentions: Array) -> Array:
        """Return p(w) for each of the `attentions` (N, Tx): (N, K)."""
        p: Array = np.exp(self.readouts.log_probabilities(self.step, attentions))
        return p

    def perturbed(self, attentions: Array) -> list[PerturbedStep]:
        """Return the step with each of the `attentions` (N, Tx), whose rows sum to 1."""
        distributions = self.distributions(attentions)
        divergences, distances = (
            jensen_shannon(attentions, self.alignment),
            total_variation(distributions, self.probabilities),
        )
        return [
            PerturbedStep(weights, p, float(bits), float(distance), float(p[self.target_id]))
            for weights, p, bits, distance in zip(attentions, distributions, divergences, distances, strict=True)
        ]

    def slopes(self, attentions: Array, logit_gradients: NDArray[np.floating]) -> Array:
        """Return gradients by the `attentions` (N, Tx), given those by the logits (N, K), in float32 or float64."""
        steps = slice(self.step, self.step + 1)
        readout_gradients = self.readouts.readout_gradients(logit_gradients)
        gradients: Array = self.readouts.gradient(steps, attentions[None], readout_gradients[None])[0]
        return gradients

    def change(self, attentions: Array) -> Array:
        """Return the total variation of p(w) for each of the `attentions` (N, Tx) from that with alpha_i, (N,).

        It is single precision, correct to about 1e-6, for searches; `perturbed` is double precision.
        """
        return total_variation(self._float32_probabilities(attentions), self._probabilities32)

    def change_and_slopes(self, attentions: Array) -> tuple[Array, Array]:
        """Return `change` of the `attentions` (N, Tx) and its gradients by them, (N, Tx).

        Where a probability is unchanged, at which |x| has no gradient, 0 is used.
        """
        distributions = self._float32_probabilities(attentions)
        differences = distributions - self._probabilities32
        signs = 0.5 * np.sign(differences)
        signs -= (distributions * signs).sum(axis=1, keepdims=True)
        change: Array = 0.5 * np.abs(differences).sum(axis=1, dtype=np.float64)
        return change, self.slopes(attentions, distributions * signs)

    def _float32_probabilities(self, attentions: Array) -> NDArray[np.float32]:
        """Return p(w) in float32 for each of the `attentions` (N, Tx): (N, K)."""
        powers: NDArray[np.float32] = self.readouts.rough_logits(slice(self.step, self.step + 1), attentions[None])[0]
        powers -= powers.max(axis=1, keepdims=True)
        np.exp(powers, out=powers)
        powers /= powers.sum(axis=1, keepdims=True)
        return powers

    @cached_property
    def _probabilities32(self) -> NDArray[np.float32]:
        return self.probabilities.astype(np.float32)

    def log_likelihood_and_slopes(self, attentions: Array, piece_id: int) -> tuple[Array, Array]:
        """Return log p of a piece for each of the `attentions` (N, Tx), (N,), and its gradients by them, (N, Tx)."""
        logarithms = self.readouts.log_probabilities(self.step, attentions)
        logit_gradients = -np.exp(logarithms)
        logit_gradients[:, piece_id] += 1
        return logarithms[:, piece_id], self.slopes(attentions, logit_gradients)


_STARTS, _STEPS = 4, 24


def best_attention(
    trace: Trace, step: int, weights: Weights | None = None, *, piece_id: int | None = None
) -> PerturbedStep:
    """Return the perturbation that makes a piece as likely as possible at a step.

    The ascent starts from alpha, from uniform weights, and from the source pieces that alone make it likeliest.

    Args:
        trace: The translation.
        weights: Weights of the model that made it (`load_weights`); by default those of the installed model.
        step: Step, 0-based.
        piece_id: Id of the piece; by default y_i.

    Returns:
        The perturbed step, at least as likely as with alpha or with any single source piece. It may be a local maximum.

    Raises:
        AttnvizError: The model has no attention, or the weights are another model's.
        AttnvizError: There is no such step or piece.
    """
    evaluation = StepEvaluation(trace, step, weights)
    if piece_id is not None:
        check_whole_argument(gettext("piece"), piece_id, 0, len(evaluation.probabilities) - 1)
    target_id = evaluation.target_id if piece_id is None else piece_id
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
