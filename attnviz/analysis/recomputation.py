"""Recompute RNNsearch and its posterior attention for one sentence in NumPy float64, for verification.

Written from the equations, without code of `attnviz.network`, `analysis.likelihood` or `analysis.posterior`. The GRU is
torch.nn.GRU's: the reset gate acts after the recurrent product, and z keeps the old state. `load_weights` and the
functions that other recomputations share are here too.

Symbols and sizes are those of `trace.trace`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz import model_folder
from attnviz.analysis.scorers import scorer_of
from attnviz.text import BOS
from attnviz.trace.interventions import AttentionIntervention, Intervention, changed_energies, interventions_at

Array = NDArray[np.float64]
Weights = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Recomputation:
    """Quantities of a translation in float64, with names and shapes of `trace.trace`."""

    annotations: Array
    initial_state: Array
    keys: Array
    queries: Array
    features: Array
    energies: Array
    alignment: Array
    entropy: Array
    coverage: Array
    contexts: Array
    states: Array
    update_gates: Array
    reset_gates: Array
    candidates: Array
    readouts: Array
    logits: Array
    probabilities: Array


def load_weights(folder: str | Path) -> dict[str, NDArray[Any]]:
    """Load the arrays of `folder`/model.safetensors; raise AttnvizError, naming the file, where that fails."""
    return model_folder.load_weights(folder)


def recompute(
    weights: Weights,
    config: Mapping[str, Any],
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    interventions: Sequence[Intervention] = (),
) -> Recomputation:
    """Compute every quantity of the translation of `source_ids` into `target_ids`, both with `</s>`.

    `interventions` on the attention apply as in the trace. `weights` maps parameter names to arrays; `attention` and
    `readout_state` of `config` are used.
    """
    exact = {name: np.asarray(value, dtype=np.float64) for name, value in weights.items()}
    encoder, decoder = submodule_weights(exact, "encoder."), submodule_weights(exact, "decoder.")
    annotations = encode(encoder, source_ids)
    n = annotations.shape[1] // 2
    initial = np.tanh(decoder["initial.weight"] @ annotations[0, n:] + decoder["initial.bias"])
    keys = scorer_of(config).keys(decoder, annotations)
    steps: dict[str, list[Array]] = {}
    state, previous_alignment = initial, np.zeros(len(annotations))
    for i, previous_id in enumerate((BOS, *target_ids[:-1])):
        word = decoder["embedding.weight"][previous_id]
        step = decode_step(
            decoder, config, annotations, keys, state, word, previous_alignment, interventions_at(interventions, i)
        )
        state, previous_alignment = step["states"], step["alignment"]
        for name, value in step.items():
            steps.setdefault(name, []).append(value)
    by_step = {name: np.stack(rows) for name, rows in steps.items()}
    by_step["coverage"] = by_step["alignment"].sum(axis=0)
    return Recomputation(annotations=annotations, initial_state=initial, keys=keys, **by_step)


def encode(encoder: Weights, source_ids: Sequence[int]) -> Array:
    """Return h_j = [forward h_j ; backward h_j], (Tx, 2n)."""
    words = encoder["embedding.weight"][list(source_ids)]
    forward, backward = submodule_weights(encoder, "gru."), {}
    for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
        backward[name] = forward[f"{name}_reverse"]
    return np.concatenate([_run_gru(forward, words), _run_gru(backward, words[::-1])[::-1]], axis=1)


def decode_step(
    decoder: Weights,
    config: Mapping[str, Any],
    annotations: Array,
    keys: Array,
    state: Array,
    word: Array,
    previous_alignment: Array,
    interventions: Sequence[AttentionIntervention] = (),
) -> dict[str, Array]:
    """Return one step of the decoder, named as in `trace.trace`.

    It is computed from annotations (Tx, 2n), keys (Tx, n'), s_{i-1} (n,), E y_{i-1} (m,) and alpha_{i-1} (Tx,), the
    `previous_alignment`, which is 0 before the first step. `decoder` holds the decoder's weights, named without
    "decoder."; `interventions` are those of this step.
    """
    attention = attend(decoder, config, keys, state, previous_alignment, interventions)
    return attention | decode_with_alignment(decoder, config, annotations, attention["alignment"], state, word)


def decode_with_alignment(
    decoder: Weights, config: Mapping[str, Any], annotations: Array, alignment: Array, state: Array, word: Array
) -> dict[str, Array]:
    """Return the remainder of a step, given its alignment (Tx,); other arguments as for `decode_step`."""
    context = alignment @ annotations[:, : scorer_of(config).context_size(annotations.shape[1])]
    rest = decode_from_context(decoder, config, context, state, word)
    return {"entropy": _entropy(alignment), "contexts": context} | rest


def decode_from_context(
    decoder: Weights, config: Mapping[str, Any], context: Array, state: Array, word: Array
) -> dict[str, Array]:
    """Return the rest of a step from its context (..., c), or from several contexts, named as by `decode_step`."""
    following, reset, update, candidate = gru_step(decoder, context, state, word)
    readout = maxout(maxout_input(decoder, context, following if config["readout_state"] == "current" else state, word))
    logits = readout @ decoder["output.weight"].T + decoder["output.bias"]
    return {
        "states": following,
        "reset_gates": reset,
        "update_gates": update,
        "candidates": candidate,
        "readouts": readout,
        "logits": logits,
        "probabilities": softmax(logits),
    }


def gru_step(decoder: Weights, context: Array, state: Array, word: Array) -> tuple[Array, Array, Array, Array]:
    """Return s_i, r_i, z_i and the candidate, (..., n) each, from contexts (..., c), s_{i-1} (n,), E y_{i-1} (m,)."""
    words = np.broadcast_to(word, (*context.shape[:-1], len(word)))
    return _gru(
        decoder["gru.weight_ih"],
        decoder["gru.weight_hh"],
        decoder["gru.bias_ih"],
        decoder["gru.bias_hh"],
        np.concatenate([words, context], axis=-1),
        state,
    )


def maxout_input(decoder: Weights, context: Array, state: Array, word: Array) -> Array:
    """Return t~_i = U_o s + V_o E y_{i-1} + C_o c + b, (..., 2l), from contexts (..., c) and the state s (..., n)."""
    result: Array = (
        state @ decoder["readout_state.weight"].T
        + decoder["readout_state.bias"]
        + decoder["readout_word.weight"] @ word
        + context @ decoder["readout_context.weight"].T
    )
    return result


def attend(
    decoder: Weights,
    config: Mapping[str, Any],
    keys: Array,
    state: Array,
    previous_alignment: Array,
    interventions: Sequence[AttentionIntervention] = (),
) -> dict[str, Array]:
    """Return query (n',), features (Tx, r), energies (Tx,) and alignment (Tx,) of one step, as in `trace.trace`.

    They are computed from keys (Tx, n'), s_{i-1} (n,) and alpha_{i-1} (Tx,). The energies are those without the
    `interventions`. Other arguments as for `decode_step`.
    """
    scorer = scorer_of(config)
    query, features = scorer.query(decoder, state), scorer.features(decoder, previous_alignment)
    energies = scorer.energies(decoder, query, keys, features)
    alignment = softmax(changed_energies(energies, interventions))
    return {"queries": query, "features": features, "energies": energies, "alignment": alignment}


def _run_gru(weights: Weights, inputs: Array) -> Array:
    """Return the states (T, n) of a GRU over `inputs` (T, m), starting from 0."""
    state = np.zeros(weights["weight_hh_l0"].shape[1])
    states = []
    for vector in inputs:
        state, *_ = _gru(
            weights["weight_ih_l0"],
            weights["weight_hh_l0"],
            weights["bias_ih_l0"],
            weights["bias_hh_l0"],
            vector,
            state,
        )
        states.append(state)
    return np.stack(states)


def _gru(
    weight_ih: Array, weight_hh: Array, bias_ih: Array, bias_hh: Array, inputs: Array, state: Array
) -> tuple[Array, Array, Array, Array]:
    """Return s' = (1 - z) * candidate + z * s, then r, z and the candidate, each (..., n).

    `inputs` have shape (..., m); `state` is s, (n,).
    """
    x_r, x_z, x_n = np.split(inputs @ weight_ih.T + bias_ih, 3, axis=-1)
    u_r, u_z, u_n = np.split(weight_hh @ state + bias_hh, 3)
    reset, update = _sigmoid(x_r + u_r), _sigmoid(x_z + u_z)
    candidate = np.tanh(x_n + reset * u_n)
    return (1 - update) * candidate + update * state, reset, update, candidate


def maxout(pairs: Array) -> Array:
    """Return the larger of each pair of neighbours: (..., 2l) to (..., l)."""
    return np.maximum(pairs[..., 0::2], pairs[..., 1::2])


def _sigmoid(values: Array) -> Array:
    # Unlike 1 / (1 + exp(-x)), tanh never overflows.
    return 0.5 * (1 + np.tanh(0.5 * values))


def softmax(energies: Array) -> Array:
    """Return exp(e_j) / sum_k exp(e_k): (..., Tx) to (..., Tx), in [0, 1], sum 1."""
    powers = np.exp(energies - energies.max(axis=-1, keepdims=True))
    shares: Array = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def log_softmax(logits: Array) -> Array:
    """Return log softmax(logits): (..., K) to (..., K), finite also where a probability underflows."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    result: Array = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result


def _entropy(alignment: Array) -> Array:
    """Return H = -sum_j alpha_j log2 alpha_j, in bits: (Tx,) to ()."""
    positive = alignment[alignment > 0]
    return np.asarray(-(positive @ np.log(positive)) / np.log(2))


def submodule_weights(weights: Weights, prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin with `prefix`, by the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}


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


def heatmap_posterior(
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
