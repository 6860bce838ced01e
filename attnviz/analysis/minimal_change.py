"""Minimal change of the attention that makes the decoder write another piece.

The distance is |alpha' - alpha|_1, from 0 to 2: twice the weight that moves. The result is a change that was checked,
so it is an upper bound; a smaller change may exist.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.recomputation import Weights
from attnviz.text import EOS
from attnviz.trace import Trace
from attnviz.trace.parts import Array, OneLine

Ids = NDArray[np.intp]

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
    first_ids: Ids
    """Likeliest piece with the step's own weights, among those that can be written, (Ty,)."""
    second_ids: Ids
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

    def leads(self, attentions: Array) -> tuple[Array, Ids]:
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

    def first_moves(self) -> tuple[Ids, Array]:
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

    def refinements(self, distributions: Array) -> tuple[Ids, Array]:
        """Return receivers (S, 1) and slopes (S, 1, Tx) from the gradient at `distributions` (S, Tx)."""
        _, ids = self.leads(distributions[:, None])
        slopes = self._slopes(distributions[:, None], ids)
        return slopes.argmax(axis=2), slopes

    def shortest(self, receivers: Ids, slopes: Array) -> tuple[Array, Array]:
        """Return the shortest moves that lead to another piece: |alpha' - alpha|_1 (S,) and alpha' (S, Tx).

        Each move gives weight to one of the `receivers` (S, C), from the others in the order of `slopes` (S, C, Tx),
        smallest first. Where no move does, return inf and alpha.
        """
        alignment = np.broadcast_to(self.alignment[:, None], slopes.shape)
        donors = _without(alignment, receivers)
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

    def _slopes(self, attentions: Array, foils: Ids) -> Array:
        """Return the gradients of the foils' leads (S, C) by the `attentions` (S, C, Tx), in their shape."""
        rows = self.readouts.output_rows(foils) - self.readouts.output_rows(self.first_ids)[:, None]
        return self.readouts.gradient(slice(None), attentions, rows)


def _without(attentions: Array, receivers: Ids) -> Array:
    """Return the `attentions` (S, C, Tx) with 0 at the `receivers` (S, C)."""
    remaining = attentions.copy()
    np.put_along_axis(remaining, receivers[..., None], 0, axis=2)
    return remaining
