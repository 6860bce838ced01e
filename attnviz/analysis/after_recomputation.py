"""What a step was about once its word is known, a second time: likelihood, posterior and the heatmap's reading in NumPy
float64, written from the equations and sharing nothing with `analysis.likelihood` and `analysis.posterior`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.recomputation import Weights, log_softmax, maxout, moved, softmax, wide

Array = NDArray[np.float64]


def log_likelihood(
    decoder: Weights, config: Mapping[str, Any], annotations: Array, state: Array, word: Array, piece: int
) -> Array:
    """Return log p(y_i = piece | s_{i-1}, y_{i-1}, c = h_j), (Tx,): the step read out from each annotation alone.

    From annotations (Tx, 2n), s_{i-1} (n,) and E y_{i-1} (m,); `decoder` is named as for `decode_step`.
    """
    readouts = maxout(wide(decoder, annotations, _seen(decoder, config, annotations, state, word), word))
    logits = readouts @ decoder["output.weight"].T + decoder["output.bias"]
    return log_softmax(logits)[:, piece]


def bayes(prior: Array, logarithms: Array) -> Array:
    """Return prior times likelihood over their sum, (Tx,), from a prior (Tx,) and log likelihoods (Tx,)."""
    with np.errstate(divide="ignore"):
        return softmax(np.log(prior) + logarithms)


def reading(
    decoder: Weights,
    config: Mapping[str, Any],
    annotations: Array,
    states: Array,
    words: Array,
    pieces: Sequence[int],
    alignment: Array,
) -> Array:
    """Return what the heatmap shows after the word, (Ty, Tx): (alpha p)^(3/4) exp(fit / 4) in shares of each row, over
    the square root of its column's sum, in shares again. From s_{i-1} (Ty, n), E y_{i-1} (Ty, m), y_i, alpha (Ty, Tx).
    """
    flat, mean = np.empty(alignment.shape), decoder["output.weight"].mean(axis=0)
    for i, piece in enumerate(pieces):
        likely = log_likelihood(decoder, config, annotations, states[i], words[i], piece)
        votes = decoder["output.weight"][piece] - mean
        fit = _through_winners(decoder, config, annotations, states[i], words[i], alignment[i]) @ votes
        with np.errstate(divide="ignore"):
            flat[i] = 0.75 * (np.log(alignment[i]) + likely) + 0.25 * fit
    columns = softmax(flat).sum(axis=0) + 1e-6
    return softmax(flat - 0.5 * np.log(columns))


def _through_winners(
    decoder: Weights, config: Mapping[str, Any], annotations: Array, state: Array, word: Array, prior: Array
) -> Array:
    """What each annotation at weight 1 adds to t_i, (Tx, l), at the winners of the maxout that the step had."""
    context = prior @ annotations
    first = wide(decoder, context, _seen(decoder, config, context, state, word), word).reshape(-1, 2)
    wins = np.stack([first[:, 0] >= first[:, 1], first[:, 0] < first[:, 1]], axis=1)
    added = (annotations @ decoder["readout_context.weight"].T).reshape(len(annotations), -1, 2)
    through: Array = (added * wins).sum(axis=2)
    return through


def _seen(decoder: Weights, config: Mapping[str, Any], context: Array, state: Array, word: Array) -> Array:
    """The state that the readout sees: s_{i-1}, (n,), or by config the s_i of each context, (..., n)."""
    return moved(decoder, context, state, word)[0] if config["readout_state"] == "current" else state
