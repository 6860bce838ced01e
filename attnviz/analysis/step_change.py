"""Effect of an intervention on a step: context, state and likeliest pieces, before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.trace import Trace

UNCHANGED = 1e-4
"""Change of a vector's length, or of a probability, that counts as unchanged; rounding causes less."""

Moment = Literal["same", "other words", "none"]
"""Whether the words before a step are the same in both translations; "none" where the other ended before."""


class PieceChange(NamedTuple):
    """Probabilities of a piece before and after."""

    piece_id: int
    piece: str
    before: float | None
    """Probability in the other translation; None where not recorded, which means below the recorded ones."""
    after: float | None
    """Probability in the changed translation; None where not recorded."""


@dataclass(frozen=True, eq=False)
class StepChange:
    """A step of a changed translation, compared with the same step of another; numbers of "none" are 0."""

    step: int
    """0-based step."""
    moment: Moment
    context: float
    """||c' - c|| / ||c||, from 0."""
    state: float
    """||s' - s|| / ||s||, from 0."""
    pieces: tuple[PieceChange, ...]
    """The likeliest pieces of both, by the larger probability; both written pieces are among them."""
    written: PieceChange
    """The piece that the changed translation wrote."""
    written_before: PieceChange | None
    """The piece that the other translation wrote; None where it ended before."""
    least: tuple[float, float]
    """Smallest recorded probabilities, before and after; unrecorded pieces are below."""

    @property
    def unchanged(self) -> bool:
        """Whether context, state, pieces and probabilities are the same within UNCHANGED."""
        if self.moment == "none" or max(self.context, self.state) > UNCHANGED:
            return False
        changes = (abs((piece.after or 0) - (piece.before or 0)) for piece in self.pieces)
        return self.written_before == self.written and max(changes) <= UNCHANGED


def step_change(before: Trace, after: Trace, step: int, *, most: int = 10) -> StepChange:
    """Return the change of 0-based `step` from `before` to `after`, with the `most` likeliest pieces.

    `after` is the same sentence with an intervention. Raise IndexError where it has no such step.
    """
    step = range(len(after.target_ids))[step]
    if step >= len(before.target_ids):
        recorded_before = {}
        moment: Moment = "none"
    else:
        recorded_before = _recorded_pieces(before, step)
        moment = "same" if before.target_ids[:step] == after.target_ids[:step] else "other words"
    recorded_after = _recorded_pieces(after, step)
    changes = {
        piece: PieceChange(
            piece,
            (recorded_after.get(piece) or recorded_before[piece])[0],
            *(side[piece][1] if piece in side else None for side in (recorded_before, recorded_after)),
        )
        for piece in {**recorded_after, **recorded_before}
    }
    written = changes[after.target_ids[step]]
    written_before = None if moment == "none" else changes[before.target_ids[step]]
    numbers = (
        (0.0, 0.0)
        if moment == "none"
        else (
            _relative_change(before.contexts[step], after.contexts[step]),
            _relative_change(before.states[step], after.states[step]),
        )
    )
    return StepChange(
        step,
        moment,
        *numbers,
        _likeliest(changes, most, written, written_before),
        written,
        written_before,
        (_smallest_probability(before, step), _smallest_probability(after, step)),
    )


def _recorded_pieces(trace: Trace, step: int) -> dict[int, tuple[str, float]]:
    """Return name and probability of the recorded pieces of a step, by id."""
    recorded = zip(trace.top_ids[step].tolist(), trace.top_pieces[step], trace.top_probabilities[step], strict=True)
    pieces = {piece: (name, float(p)) for piece, name, p in recorded}
    pieces.setdefault(trace.target_ids[step], (trace.target_pieces[step], float(trace.probabilities[step])))
    return pieces


def _smallest_probability(trace: Trace, step: int) -> float:
    return float(trace.top_probabilities[step].min()) if step < len(trace.target_ids) else 1.0


def _likeliest(
    changes: dict[int, PieceChange], most: int, written: PieceChange, written_before: PieceChange | None
) -> tuple[PieceChange, ...]:
    """Return the `most` likeliest pieces, before or after, with the written ones, by the new probability."""
    ordered = sorted(changes.values(), key=lambda change: -max(change.before or 0, change.after or 0))
    written_changes = [
        change for change in (written, written_before) if change is not None and change not in ordered[:most]
    ]
    chosen = ordered[: most - len(written_changes)] + written_changes
    return tuple(sorted(chosen, key=lambda change: (-(change.after or 0), -(change.before or 0))))


def _relative_change(before: NDArray[np.float32], after: NDArray[np.float32]) -> float:
    old, new = before.astype(np.float64), after.astype(np.float64)
    return float(np.linalg.norm(new - old) / max(np.linalg.norm(old), np.finfo(np.float64).tiny))
