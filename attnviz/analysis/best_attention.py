"""Attention weights that maximise the probability of a piece, by gradient ascent on the simplex."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.distributions import climb
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.step_evaluation import Look, Trial
from attnviz.trace import Trace

Array = NDArray[np.float64]

_STARTS, _STEPS = 4, 24


def best_attention(trace: Trace, weights: Weights, step: int, piece_id: int | None = None) -> Trial:
    """Return the perturbation that makes a piece, y_i by default, as likely as possible at 0-based `step`.

    The ascent starts from alpha, from uniform weights, and from the source pieces that alone make it likeliest. The
    result is at least as likely as with alpha or with any single source piece; it may be a local maximum. Raise
    AttnvizError and IndexError as `perturbation_tests`, IndexError also where the vocabulary has no such piece.
    """
    look = Look(trace, weights, step)
    wanted = look.chosen if piece_id is None else range(len(look.probabilities))[piece_id]
    count = len(look.alignment)
    alone = look.readouts.log_probabilities(look.step, np.eye(count))[:, wanted]
    first = np.eye(count)[np.argsort(-alone, kind="stable")[:_STARTS]]
    starts = np.concatenate([first, look.alignment[None], np.full((1, count), 1 / count)])

    def slope(looks: Array) -> Array:
        return look.log_likelihood_and_slopes(looks, wanted)[1]

    def settle(looks: Array) -> tuple[Array, Array]:
        return looks, look.readouts.log_probabilities(look.step, looks)[:, wanted]

    found, heights = climb(starts, slope, settle, _STEPS)
    return look.tried(found[heights.argmax()][None])[0]
