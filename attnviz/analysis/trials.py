"""Is it an explanation? One step, tried with other weights: alike everywhere, permuted, without its strongest, and the
adversary's.

Jain & Wallace (2019) asked whether a look could have been another one and the outcome the same; Wiegreffe & Pinter
(2019) answered that another look that would do does not make this one meaningless; Moradi et al. (2019) tried it in
translation. What a trial shows is whether this word hung on this look. It does not show what the model would have
learnt without attention, nor that a look that matters is a reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.adversary import BOUND, farthest
from attnviz.analysis.looks import Look, Trial
from attnviz.analysis.recomputation import Weights
from attnviz.trace import Trace

Array = NDArray[np.float64]

PERMUTATIONS = 100
"""As many as Jain & Wallace (2019) drew."""


@dataclass(frozen=True, eq=False)
class Trials:
    """A step as it was, and what it makes of other weights."""

    step: int
    """Index of the step, 0-based."""
    real: Trial
    uniform: Trial
    """All source pieces alike."""
    permuted: tuple[Trial, ...]
    """The step's own weights on other pieces, drawn by chance."""
    without_strongest: Trial
    """The largest weight is 0, the others are as large between them as they were."""
    adversary: Trial
    """The farthest weights that leave p(w) nearly as it was: see `adversary`."""

    @property
    def change_when_permuted(self) -> float:
        """The median total variation over the permutations."""
        return float(np.median([trial.total_variation for trial in self.permuted]))

    @property
    def kept_when_permuted(self) -> float:
        """The share of permutations that write the piece that the step's own weights write."""
        return float(np.mean([trial.piece_id == self.real.piece_id for trial in self.permuted]))


def trials(
    trace: Trace,
    weights: Weights,
    step: int,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    bound: float = BOUND,
) -> Trials:
    """Return the trials of 0-based `step`; a `seed` draws the same `permutations` every time, and the adversary keeps
    the total variation of p(w) within `bound`.

    `weights` are those of the model that made the trace (`load_weights`). Raise AttnvizError where they are not, or
    where the model has no attention, IndexError where there is no such step, and ValueError for less than one
    permutation or a bound that is not from 0 to 1.
    """
    if permutations < 1:
        raise ValueError(f"there must be at least one permutation, not {permutations!r}")
    look = Look(trace, weights, step)
    count = len(look.alignment)
    looks = np.concatenate(
        [
            look.alignment[None],
            np.full((1, count), 1 / count),
            without_strongest(look.alignment)[None],
            permuted(look.alignment, permutations, seed, look.step),
            farthest(look, bound)[None],
        ]
    )
    real, uniform, without, *drawn, adversary = look.tried(looks)
    return Trials(look.step, real, uniform, tuple(drawn), without, adversary)


def permuted(alignment: Array, count: int, seed: int, step: int) -> Array:
    """Return the weights (Tx,) of 0-based `step` in `count` orders drawn by chance, (count, Tx); those of one `seed`
    and step are the same every time."""
    chance = np.random.default_rng((seed, step))
    drawn: Array = chance.permuted(np.broadcast_to(alignment, (count, len(alignment))), axis=1)
    return drawn


def without_strongest(alignment: Array) -> Array:
    """Return the weights (Tx,) with the largest at 0 and the others renormalised, (Tx,); where these were all 0, they
    are alike."""
    strongest = np.arange(len(alignment)) == alignment.argmax()
    left = np.where(strongest, 0, alignment)
    if not left.any():
        left = np.where(strongest, 0.0, 1.0)
    found: Array = left / max(left.sum(), np.finfo(np.float64).tiny)
    return found
