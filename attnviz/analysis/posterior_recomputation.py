"""Recompute likelihood and posterior attention in NumPy float64, for verification.

Written from the equations, without code of `analysis.likelihood` and `analysis.posterior`.

Symbols and sizes are those of `trace.quantities`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.recomputation import Weights, gru_step, log_softmax, maxout, maxout_input, softmax

Array = NDArray[np.float64]


def log_likelihood(
    decoder: Weights, config: Mapping[str, Any], annotations: Array, state: Array, word: Array, piece: int
) -> Array:
    """Return log p(y_i = piece | s_{i-1}, y_{i-1}, c = h_j), (Tx,): the step with each annotation as its context.

    From annotations (Tx, 2n), s_{i-1} (n,) and E y_{i-1} (m,); `decoder` is named as for `decode_step`.
    """
    readouts = maxout(
        maxout_input(decoder, annotations, _readout_state(decoder, config, annotations, state, word), word)
    )
    logits = readouts @ decoder["output.weight"].T + decoder["output.bias"]
    return log_softmax(logits)[:, piece]


def bayes(prior: Array, logarithms: Array) -> Array:
    """Return the posterior, (Tx,), of a prior (Tx,) and log likelihoods (Tx,)."""
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
    """Return the posterior attention of the heatmap, (Ty, Tx).

    It is (alpha p)^(3/4) exp(fit / 4), normalised over each row, divided by the square root of its column's sum, and
    normalised again. From s_{i-1} (Ty, n), E y_{i-1} (Ty, m), y_i, alpha (Ty, Tx).
    """
    scores, mean = np.empty(alignment.shape), decoder["output.weight"].mean(axis=0)
    for i, piece in enumerate(pieces):
        log_likelihoods = log_likelihood(decoder, config, annotations, states[i], words[i], piece)
        output_row = decoder["output.weight"][piece] - mean
        fit = _terms_of_winners(decoder, config, annotations, states[i], words[i], alignment[i]) @ output_row
        with np.errstate(divide="ignore"):
            scores[i] = 0.75 * (np.log(alignment[i]) + log_likelihoods) + 0.25 * fit
    columns = softmax(scores).sum(axis=0) + 1e-6
    return softmax(scores - 0.5 * np.log(columns))


def _terms_of_winners(
    decoder: Weights, config: Mapping[str, Any], annotations: Array, state: Array, word: Array, prior: Array
) -> Array:
    """Return what each annotation with weight 1 adds to t_i, (Tx, l), through the step's maxout winners."""
    context = prior @ annotations
    first = maxout_input(decoder, context, _readout_state(decoder, config, context, state, word), word).reshape(-1, 2)
    wins = np.stack([first[:, 0] >= first[:, 1], first[:, 0] < first[:, 1]], axis=1)
    added = (annotations @ decoder["readout_context.weight"].T).reshape(len(annotations), -1, 2)
    through: Array = (added * wins).sum(axis=2)
    return through


def _readout_state(decoder: Weights, config: Mapping[str, Any], context: Array, state: Array, word: Array) -> Array:
    """Return the state that the readout uses: s_{i-1}, (n,), or by config the s_i of each context, (..., n)."""
    return gru_step(decoder, context, state, word)[0] if config["readout_state"] == "current" else state
