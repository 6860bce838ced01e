"""Evaluate steps with other attention weights: distances, gradients, best attention, and minimal change.

The minimal change of the attention makes the decoder write another piece. Its distance is |alpha' - alpha|_1, from 0 to
2: twice the weight that moves. The result is a change that was checked, so it is an upper bound; a smaller change may
exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnviz.analysis.labels import decimal, percent, quoted_name
from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.measures import ranked, total_variation
from attnviz.analysis.recomputation import Weights
from attnviz.arguments import check_whole_argument
from attnviz.languages import gettext
from attnviz.text import EOS
from attnviz.trace import Array, FloatArray, Floating, Indices, OneLine, Trace
from attnviz.trace.drawing import step_index

_LENGTHS = 0.25 ** np.arange(3)
"""Fractions of a move to try, the whole move first."""
_STEPS = 24
_FIRST, _LONGEST, _SHORTEST = 0.3, 2.0, 1e-6
"""Step lengths: the first, the largest, and the one below which the ascent ends."""


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
    return (p * np.log2(ratios)).sum(axis=-1)


def simplex_projection(points: Array) -> Array:
    """Return the distributions nearest to the `points` (N, Tx), (N, Tx) (Duchi et al. 2008)."""
    ordered = -np.sort(-points, axis=1)
    surplus = (ordered.cumsum(axis=1) - 1) / np.arange(1, points.shape[1] + 1)
    support = (ordered > surplus).sum(axis=1)
    nearest = np.maximum(points - surplus[np.arange(len(points)), support - 1, None], 0)
    return nearest / nearest.sum(axis=1, keepdims=True)


Evaluate = Callable[[Array], tuple[Array, Array]]
"""Maps distributions (M, Tx) to allowed ones nearby, in the same shape, and to their objectives, (M,)."""


def gradient_ascent(
    start_points: Array, direction: Callable[[Array], Array], evaluate: Evaluate
) -> tuple[Array, Array]:
    """Return the distributions (N, Tx) that projected gradient ascent reaches, and their objectives (N,).

    The objectives are never below those of the `start_points`. `direction` maps distributions (M, Tx) to directions
    (M, Tx); `evaluate` may move a point back into an allowed region, or give it the objective -inf. Each of the _STEPS
    steps tries the full projected move and shorter ones; the step length shrinks after a failed move and grows after a
    full one.
    """
    points, objectives = evaluate(start_points)
    lengths, rows = np.full(len(start_points), _FIRST), np.arange(len(start_points))
    for _ in range(_STEPS):
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
        return [(piece, float(self.probabilities[piece])) for piece in ranked(self.probabilities)[:k]]


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
        return self.distributions(self.alignment[None])[0]

    def distributions(self, attentions: Array) -> Array:
        """Return p(w) for each of the `attentions` (N, Tx): (N, K)."""
        return np.exp(self.readouts.log_probabilities(self.step, attentions))

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

    def slopes(self, attentions: Array, logit_gradients: Floating) -> Array:
        """Return gradients by the `attentions` (N, Tx), given those by the logits (N, K), in float32 or float64."""
        steps = slice(self.step, self.step + 1)
        readout_gradients = self.readouts.readout_gradients(logit_gradients)
        return self.readouts.gradient(steps, attentions[None], readout_gradients[None])[0]

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
        signs = 0.5 * np.sign(distributions - self._probabilities32)
        signs -= (distributions * signs).sum(axis=1, keepdims=True)
        return total_variation(distributions, self._probabilities32), self.slopes(attentions, distributions * signs)

    def _float32_probabilities(self, attentions: Array) -> FloatArray:
        """Return p(w) in float32 for each of the `attentions` (N, Tx): (N, K)."""
        return self.readouts.rough_probabilities(slice(self.step, self.step + 1), attentions[None])[0]

    @cached_property
    def _probabilities32(self) -> FloatArray:
        return self.probabilities.astype(np.float32)

    def log_likelihood_and_slopes(self, attentions: Array, piece_id: int) -> tuple[Array, Array]:
        """Return log p of a piece for each of the `attentions` (N, Tx), (N,), and its gradients by them, (N, Tx)."""
        logarithms = self.readouts.log_probabilities(self.step, attentions)
        logit_gradients = -np.exp(logarithms)
        logit_gradients[:, piece_id] += 1
        return logarithms[:, piece_id], self.slopes(attentions, logit_gradients)


_STARTS = 4


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
    vertices = np.eye(count)[ranked(single_piece_logs)[:_STARTS]]
    start_points = np.concatenate([vertices, evaluation.alignment[None], np.full((1, count), 1 / count)])

    def direction(attentions: Array) -> Array:
        return evaluation.log_likelihood_and_slopes(attentions, target_id)[1]

    def evaluate(attentions: Array) -> tuple[Array, Array]:
        return attentions, evaluation.readouts.log_probabilities(evaluation.step, attentions)[:, target_id]

    points, objectives = gradient_ascent(start_points, direction, evaluate)
    return evaluation.perturbed(points[objectives.argmax()][None])[0]


Spelling = Callable[[int], str]
"""Returns the piece of an id."""


def minimal_change_sentence(minimal_change: MinimalChange, step: int, spelling: Spelling) -> str:
    """Return the minimal change of 0-based `step`."""
    name, distance = quoted_name(spelling(int(minimal_change.first_ids[step]))), float(minimal_change.distances[step])
    if np.isinf(distance):
        return gettext(
            "With all changes of the attention weights that we tried, the model still writes {name}.", name=name
        )
    return gettext(
        "Moving {share} of the weight (an L1 distance of {distance}) makes the model write {other} instead of {name}. "
        "The minimal change may be smaller: {share} is an upper bound.",
        other=quoted_name(spelling(int(minimal_change.second_ids[step]))),
        name=name,
        share=percent(distance / 2),
        distance=decimal(distance),
    )


_FOILS, _VERTICES = 4, 2
"""Numbers of foils, and of pieces that alone lead to another choice soonest, that receive weight."""
_GRID = (np.arange(1, 6) / 5) ** 1.5
"""Shares of the movable weight that are tried first."""
_HALVINGS, _REFINEMENTS = 8, 2
"""Steps of the bisection for the smallest share, and repetitions with a new gradient."""
_CLEAR = 1e-4
"""Lead of a foil's logit that counts, above single-precision errors."""


@dataclass(frozen=True, eq=False, repr=False)
class MinimalChange(OneLine):
    """For each of Ty steps, the smallest change found that makes another piece the likeliest."""

    distances: Array
    """|alpha'_i - alpha_i|_1, (Ty,), from 0 to 2; inf where no change was found."""
    weights: Array
    """alpha'_i, (Ty, Tx); alpha_i where no change was found."""
    first_ids: Indices
    """Likeliest piece with the step's own weights, among those that can be written, (Ty,)."""
    second_ids: Indices
    """Likeliest piece with alpha'_i, (Ty,); the same as the first where no change was found."""


def minimal_change(trace: Trace, weights: Weights | None = None) -> MinimalChange:
    """Return the minimal change of every step.

    Each move shifts weight to one source piece, from the pieces that support the choice most. Receivers are the pieces
    that support each of the likeliest foils most, and the pieces which alone lead to another choice soonest. The
    shortest move is refined twice with the gradient at its end.

    Args:
        trace: The translation.
        weights: Weights of the model that made it (`load_weights`).

    Returns:
        The changes. Distances are upper bounds, because their weights do change the choice; inf means that none of
        these moves did.

    Raises:
        AttnvizError: The model has no attention, or the weights are another model's.
    """
    moves = _Moves(Readouts(trace, weights))
    distances, attentions = moves.shortest(*moves.first_moves())
    for _ in range(_REFINEMENTS):
        shorter, refined = moves.shortest(*moves.refinements(attentions))
        better = shorter < distances
        distances, attentions = np.where(better, shorter, distances), np.where(better[:, None], refined, attentions)
    _, second = moves.leads(attentions[:, None])
    return MinimalChange(
        distances, attentions, moves.first_ids, np.where(np.isfinite(distances), second[:, 0], moves.first_ids)
    )


class _Moves:
    """Moves of attention weight at all S steps, C moves each."""

    def __init__(self, readouts: Readouts) -> None:
        self.readouts = readouts
        self.alignment = readouts.alignment / readouts.alignment.sum(axis=1, keepdims=True)
        logits = np.concatenate(
            [readouts.rough_logits(steps, self.alignment[steps, None])[:, 0] for steps in readouts.blocks(1)]
        )
        order = np.argsort(-logits[:, EOS:], axis=1)[:, : _FOILS + 1] + EOS
        self.first_ids, self.foils = order[:, 0], order[:, 1:]
        """Ids of the likeliest piece, (S,), and of its foils, (S, at most _FOILS)."""

    def leads(self, attentions: Array) -> tuple[Array, Indices]:
        """Return the lead of the best foil over the first piece, and its id, for each of the `attentions` (S, C, Tx).

        Both are (S, C); leads are differences of logits.
        """
        leads, ids = np.empty(attentions.shape[:2]), np.empty(attentions.shape[:2], dtype=np.intp)
        for steps in self.readouts.blocks(attentions.shape[1]):
            logits = self.readouts.rough_logits(steps, attentions[steps])
            first_ids = self.first_ids[steps, None, None]
            own = np.take_along_axis(logits, first_ids, axis=2)[..., 0]
            np.put_along_axis(logits, first_ids, -np.inf, axis=2)
            ids[steps] = logits[..., EOS:].argmax(axis=2) + EOS
            leads[steps] = np.take_along_axis(logits, ids[steps, :, None], axis=2)[..., 0] - own
        return leads, ids

    def first_moves(self) -> tuple[Indices, Array]:
        """Return receivers (S, C) and slopes (S, C, Tx) for `shortest`."""
        alignment, count = self.alignment, self.alignment.shape[1]
        vertex_leads, ids = self.leads(np.broadcast_to(np.eye(count), (len(alignment), count, count)))
        current_leads, _ = self.leads(alignment[:, None])
        # Distance to the crossing on the way to each vertex, if the lead grew linearly.
        crossings = np.where(
            vertex_leads > _CLEAR,
            current_leads / np.minimum(current_leads - vertex_leads, -_CLEAR) * (1 - alignment),
            np.inf,
        )
        vertices = np.argsort(crossings, axis=1)[:, :_VERTICES]
        foils = np.concatenate([self.foils, np.take_along_axis(ids, vertices, axis=1)], axis=1)
        slopes = self._slopes(np.broadcast_to(alignment[:, None], (*foils.shape, count)), foils)
        by_slope = slopes[:, : self.foils.shape[1]].argmax(axis=2)
        return np.concatenate([by_slope, vertices], axis=1), slopes

    def refinements(self, distributions: Array) -> tuple[Indices, Array]:
        """Return receivers (S, 1) and slopes (S, 1, Tx) from the gradient at `distributions` (S, Tx)."""
        _, ids = self.leads(distributions[:, None])
        slopes = self._slopes(distributions[:, None], ids)
        return slopes.argmax(axis=2), slopes

    def shortest(self, receivers: Indices, slopes: Array) -> tuple[Array, Array]:
        """Return the shortest moves that lead to another piece: |alpha' - alpha|_1 (S,) and alpha' (S, Tx).

        Each move gives weight to one of the `receivers` (S, C), from the others in the order of `slopes` (S, C, Tx),
        smallest first. Where no move does, return inf and alpha.
        """
        alignment = np.broadcast_to(self.alignment[:, None], slopes.shape)
        donors = alignment.copy()
        np.put_along_axis(donors, receivers[..., None], 0, axis=2)
        order = np.argsort(slopes, axis=2)
        ordered = np.take_along_axis(donors, order, axis=2)
        cumulative = np.empty(slopes.shape)
        np.put_along_axis(cumulative, order, np.cumsum(ordered, axis=2) - ordered, axis=2)
        movable = donors.sum(axis=2)

        def moved(shares: Array) -> Array:
            amounts = shares * movable
            attentions: Array = alignment - np.clip(amounts[..., None] - cumulative, 0, donors)
            np.put_along_axis(attentions, receivers[..., None], 0, axis=2)
            np.put_along_axis(attentions, receivers[..., None], 1 - attentions.sum(axis=2, keepdims=True), axis=2)
            return attentions

        changed = np.stack([self.leads(moved(np.full(movable.shape, share)))[0] > _CLEAR for share in _GRID])
        place = changed.argmax(axis=0)
        outside = np.where(changed.any(axis=0), _GRID[place], np.inf)
        inside = np.where(place > 0, _GRID[place - 1], 0)
        for _ in range(_HALVINGS):
            middle = np.where(np.isfinite(outside), 0.5 * (inside + outside), 0)
            changes_choice = self.leads(moved(middle))[0] > _CLEAR
            outside, inside = np.where(changes_choice, middle, outside), np.where(changes_choice, inside, middle)
        succeeds = np.isfinite(outside)
        # A receiver that already has all the weight gains none.
        lengths = np.multiply(2 * outside, movable, out=np.full(movable.shape, np.inf), where=succeeds)
        rows, best = np.arange(len(movable)), lengths.argmin(axis=1)
        return lengths[rows, best], moved(np.where(succeeds, outside, 0))[rows, best]

    def _slopes(self, attentions: Array, foils: Indices) -> Array:
        """Return the gradients of the foils' leads (S, C) by the `attentions` (S, C, Tx), in their shape."""
        rows = self.readouts.output_rows(foils) - self.readouts.output_rows(self.first_ids)[:, None]
        return self.readouts.gradient(slice(None), attentions, rows)
