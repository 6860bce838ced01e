"""What a change by hand did to a step: its context, its state and its likeliest pieces, against those it had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.trace import Trace

UNCHANGED = 1e-4
"""Change of a vector's length, or of a probability, up to which nothing changed: rounding alone makes less."""

Moment = Literal["same", "other words", "none"]
"""Whether the words before a step are the same in both translations; "none" where the other ended before."""


class PieceChange(NamedTuple):
    """What became of a piece."""

    piece_id: int
    piece: str
    before: float | None
    """Its probability in the other translation, None where it is not among those recorded there: then it is less than
    the least of those."""
    after: float | None
    """Its probability in the changed one, or None likewise."""


@dataclass(frozen=True, eq=False)
class StepChange:
    """A step of a changed translation, against the same step of another; numbers of "none" are 0."""

    step: int
    """Its index, 0-based."""
    moment: Moment
    context: float
    """||c' - c|| / ||c||, from 0."""
    state: float
    """||s' - s|| / ||s||, from 0."""
    pieces: tuple[PieceChange, ...]
    """The likeliest of both, by the larger of their probabilities; those that the two wrote are among them."""
    written: PieceChange
    """What the changed translation wrote."""
    written_before: PieceChange | None
    """What the other wrote; None where it ended before."""
    least: tuple[float, float]
    """Below this is a piece that is not among those recorded, before and after."""

    @property
    def unchanged(self) -> bool:
        """Whether all is as it was."""
        if self.moment == "none" or max(self.context, self.state) > UNCHANGED:
            return False
        moved = (abs((one.after or 0) - (one.before or 0)) for one in self.pieces)
        return self.written_before == self.written and max(moved) <= UNCHANGED


def step_change(before: Trace, after: Trace, step: int, *, most: int = 10) -> StepChange:
    """Return what became of 0-based `step` of `before` in `after`, the same sentence with something changed, and of the
    `most` likeliest pieces.

    Raise IndexError where `after` has no such step.
    """
    step = range(len(after.target_ids))[step]
    if step >= len(before.target_ids):
        known = {}
        moment: Moment = "none"
    else:
        known = _known(before, step)
        moment = "same" if before.target_ids[:step] == after.target_ids[:step] else "other words"
    now = _known(after, step)
    changes = {
        piece: PieceChange(
            piece,
            (now.get(piece) or known[piece])[0],
            *(one[piece][1] if piece in one else None for one in (known, now)),
        )
        for piece in {**now, **known}
    }
    written = changes[after.target_ids[step]]
    written_before = None if moment == "none" else changes[before.target_ids[step]]
    numbers = (
        (0.0, 0.0)
        if moment == "none"
        else (
            _relative(before.contexts[step], after.contexts[step]),
            _relative(before.states[step], after.states[step]),
        )
    )
    return StepChange(
        step,
        moment,
        *numbers,
        _likeliest(changes, most, written, written_before),
        written,
        written_before,
        (_least(before, step), _least(after, step)),
    )


def _known(trace: Trace, step: int) -> dict[int, tuple[str, float]]:
    """Return name and probability of the pieces that are recorded of a step, by id."""
    recorded = zip(trace.top_ids[step].tolist(), trace.top_pieces[step], trace.top_probabilities[step], strict=True)
    known = {piece: (name, float(p)) for piece, name, p in recorded}
    known.setdefault(trace.target_ids[step], (trace.target_pieces[step], float(trace.probabilities[step])))
    return known


def _least(trace: Trace, step: int) -> float:
    return float(trace.top_probabilities[step].min()) if step < len(trace.target_ids) else 1.0


def _likeliest(
    changes: dict[int, PieceChange], most: int, written: PieceChange, written_before: PieceChange | None
) -> tuple[PieceChange, ...]:
    """Return the `most` likeliest, before or after, with those that were written, by what they are now."""
    ordered = sorted(changes.values(), key=lambda one: -max(one.before or 0, one.after or 0))
    kept = [one for one in (written, written_before) if one is not None and one not in ordered[:most]]
    chosen = ordered[: most - len(kept)] + kept
    return tuple(sorted(chosen, key=lambda one: (-(one.after or 0), -(one.before or 0))))


def _relative(before: NDArray[np.float32], after: NDArray[np.float32]) -> float:
    one, other = before.astype(np.float64), after.astype(np.float64)
    return float(np.linalg.norm(other - one) / max(np.linalg.norm(one), np.finfo(np.float64).tiny))
