"""The adversary of Jain & Wallace (2019): the look that is farthest from the real one and changes next to nothing.

Their Eq. 4 to 6, for one step: the largest Jensen-Shannon divergence of alpha' from alpha with the total variation of
p(w) within a bound. Nothing says that the ascent finds the very farthest; what it returns keeps the bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.distributions import climb, jensen_shannon
from attnviz.analysis.looks import Look, Trial
from attnviz.analysis.recomputation import Weights
from attnviz.trace import Trace

Array = NDArray[np.float64]

BOUND = 0.01
"""Total variation of p(w), as Jain & Wallace have it."""

_INSIDE = 0.999
"""Share of the bound that is used: single precision, in which a network runs the look again, stays below it too."""
_STARTS, _STEPS = 3, 24
_NEAR_REAL, _NEAR_STRONGEST = (1, 0.5, 0.25, 0.12, 0.06, 0.03, 0.01), (0, 0.05, 0.1, 0.2, 0.4)
_PULLS, _PULL = 2, 0.99
_NEAR, _DAMPING = 1e-3, 0.01
_STEEPEST = 3.0
"""What the slope of the divergence is cut at: it is infinite where a weight leaves 0."""


def adversary(trace: Trace, weights: Weights, step: int, bound: float = BOUND) -> Trial:
    """Return the trial of the weights farthest from alpha_i, by Jensen-Shannon divergence, that projected gradient
    ascent finds with the total variation of p(w) at most `bound`.

    It starts from several looks that keep the bound, and is at least as far as any of them; there may be one farther
    still. Raise AttnvizError and IndexError as `trials`, ValueError for a bound that is not from 0 to 1.
    """
    look = Look(trace, weights, step)
    return look.tried(farthest(look, bound)[None])[0]


def farthest(look: Look, bound: float = BOUND) -> Array:
    """Return the weights of `adversary`, (Tx,); raise ValueError for a bound that is not from 0 to 1."""
    if not 0 <= bound <= 1:
        raise ValueError(f"the bound must be from 0 to 1, not {bound!r}")
    real, limit = look.alignment, _INSIDE * bound
    starts = _starts(look, limit)
    # From each start twice: as the crow flies, and with a stride that is long where p(w) hardly turns.
    metrics = np.repeat(np.stack([np.eye(len(real)), _stride(look)]), len(starts), axis=0)

    def settle(looks: Array) -> tuple[Array, Array]:
        # What changes too much is pulled back towards the real look, almost evenly along which the change grows.
        looks, change = looks.copy(), look.change(looks)
        for _ in range(_PULLS):
            over = change > limit
            if over.any():
                shares = _PULL * limit / change[over]
                looks[over] = real + shares[:, None] * (looks[over] - real)
                change[over] = look.change(looks[over])
        return looks, np.where(change <= limit, jensen_shannon(looks, real), -np.inf)

    def slope(looks: Array) -> Array:
        away = np.log(np.maximum(looks, 1e-12) / np.maximum(looks + real, 1e-12))
        away = _level(np.maximum(away - away.max(axis=1, keepdims=True), -_STEEPEST))
        change, wall = look.change_and_slopes(looks)
        wall = _level(wall)
        ahead, aside = (np.einsum("nj,njk->nk", one, metrics) for one in (away, wall))
        # Near the wall of the bound along it, not into it.
        into, sizes = (ahead * wall).sum(axis=1), (aside * wall).sum(axis=1)
        shares = np.divide(into, sizes, out=np.zeros_like(into), where=(change > limit / 2) & (into > 0) & (sizes > 0))
        along: Array = ahead - shares[:, None] * aside
        return along

    found, heights = climb(np.concatenate([starts, starts]), slope, settle, _STEPS)
    return _kept_within(look, found[heights.argmax()], bound)


def _stride(look: Look) -> Array:
    """Return what makes of a gradient a direction in which p(w) turns little for its length, (Tx, Tx): the inverse of
    the Fisher information of the weights at the real look, a little of the identity added to it."""
    real, ends = look.alignment, np.eye(len(look.alignment))
    before, after = look.probabilities, look.distributions(real + _NEAR * (ends - real))
    turns = (after - before) / _NEAR
    information = (turns / np.maximum(before, 1e-300)) @ turns.T
    size = max(float(np.trace(information)) / len(real), 1e-300)
    stride = np.linalg.inv(information / size + _DAMPING * ends)
    return np.asarray(stride, dtype=np.float64)


def _kept_within(look: Look, found: Array, bound: float) -> Array:
    """Return weights (Tx,) nearer to the real look where those `found` break the bound in double precision after
    all."""
    for share in (1.0, 0.999, 0.99, 0.9):
        nearer: Array = look.alignment + share * (found - look.alignment)
        if look.tried(nearer[None])[0].total_variation <= bound:
            return nearer
    return look.alignment


def _starts(look: Look, limit: float) -> Array:
    """Return looks (N, Tx) that change no more than `limit`, if there are: the real one and the farthest of some on the
    straight ways from it to each source piece, and to all but its strongest alike; and on those from its strongest
    alone."""
    real, strongest = look.alignment, np.eye(len(look.alignment))[look.alignment.argmax()]
    ends = np.concatenate([np.eye(len(real)), (1 - strongest)[None] / max(len(real) - 1, 1)])
    starts = [real[None]]
    for begin, shares in ((real, _NEAR_REAL), (strongest, _NEAR_STRONGEST)):
        looks = (begin + np.array(shares)[:, None, None] * (ends - begin)).reshape(-1, len(real))
        far = np.where(look.change(looks) <= limit, jensen_shannon(looks, real), -np.inf)
        # Where there are too few, the climb pulls the others back.
        starts.append(looks[np.argsort(-far, kind="stable")[:_STARTS]])
    return np.concatenate(starts)


def _level(directions: Array) -> Array:
    """Return `directions` (N, Tx) without the part that leaves the simplex."""
    levelled: Array = directions - directions.mean(axis=1, keepdims=True)
    return levelled
