"""Recompute an imported recurrent translator for one sentence in NumPy float64, for verification.

Written from the equations, without code of `attnviz.network`. For PyTorch's seq2seq tutorial:

    s_0 = tanh(W [forward h_Tx ; backward h_1] + b),  e_ij = v . tanh(W_a s_{i-1} + U_a h_j + b_a)
    s_i = GRU([E y_{i-1} ; c_i], s_{i-1}),  o_i = W_o [s_i ; c_i ; E y_{i-1}] + b_o

For Joey NMT, whose query is s_i, computed from y_{i-1}:

    s_i = RNN([E y_{i-1} ; t_{i-1}], s_{i-1}) with t_0 = 0,  e_ij = v . tanh(W_a s_i + U_a h_j) or s_i . U_a h_j
    t_i = tanh(W_t [s_i ; c_i] + b_t),  o_i = W_o t_i

For the tutorial on pytorch.org, whose encoder reads forwards only, s_0 = h_Tx, o_i = W_o s_i + b_o, and e_ij and s_i
are as in the seq2seq tutorial.

Sizes: Tx source pieces; n state, m each encoder direction, n' alignment, r readout; L decoder layers; K vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.cells import CellOutput, bidirectional_states, cell_output, forward_states, names
from attnviz.analysis.recomputation import Weights, softmax, submodule_weights
from attnviz.text import BOS

Array = NDArray[np.float64]
Config = Mapping[str, Any]


class DecoderState(NamedTuple):
    """State of the decoder between steps."""

    states: Array
    """s_i in every layer, (L, n)."""
    memories: Array
    """Cell states, (L, n), or (0, n) for GRUs."""
    readout: Array
    """t_i, (r,)."""


def to_float64(weights: Weights) -> dict[str, NDArray[Any]]:
    """Return the weights in float64; embeddings, of which a step reads one row, stay unchanged."""
    return {n: v if n.endswith("embedding.weight") else np.asarray(v, np.float64) for n, v in weights.items()}


def encode(weights: Weights, config: Config, source_ids: Sequence[int]) -> Array:
    """Return h_j, (Tx, 2m)."""
    words = np.asarray(weights["encoder.embedding.weight"][list(source_ids)], np.float64)
    words = words * np.sqrt(words.shape[1]) if config["source_scaled"] else words
    rnn = submodule_weights(weights, "encoder.rnn.")
    if config["family"] == "pytorch":
        return forward_states(rnn, words)
    return bidirectional_states(rnn, words, int(config["encoder_layers"]))


def first_state(weights: Weights, config: Config, annotations: Array) -> Array:
    """Return s_0, (n,), from annotations (Tx, 2m), which contain the last states of both directions."""
    if config["first_state"] == "bridge":
        m = annotations.shape[1] // 2
        ends = np.concatenate([annotations[-1, :m], annotations[0, m:]])
        state: Array = np.tanh(weights["decoder.bridge.weight"] @ ends + weights["decoder.bridge.bias"])
        return state
    n = int(config["hidden_size"])
    return annotations[-1, :n] if config["first_state"] == "last" else np.zeros(n)


def keys_of(weights: Weights, annotations: Array) -> Array:
    """Return U_a h_j + b_a, (Tx, n'), from annotations (Tx, 2m)."""
    keys: Array = annotations @ weights["decoder.key.weight"].T + weights["decoder.key.bias"]
    return keys


def energies_of(weights: Weights, query: Array, keys: Array) -> Array:
    """Return e_ij, (Tx,), from a query (n',) and keys (Tx, n')."""
    if "decoder.score" in weights:
        energies: Array = np.tanh(query + keys) @ weights["decoder.score"]
        return energies
    return keys @ query


def score_of(weights: Weights) -> Array:
    """Return v_a, (n',), or (0,) where energies are dot products."""
    return np.asarray(weights.get("decoder.score", np.zeros(0)), np.float64)


def word_of(weights: Weights, config: Config, previous_id: int) -> Array:
    """Return E y_{i-1}, (embedding size,), scaled as by the config."""
    word = np.asarray(weights["decoder.embedding.weight"][previous_id], np.float64)
    return word * np.sqrt(len(word)) if config["target_scaled"] else word


def start_state(config: Config, initial_state: Array) -> DecoderState:
    """Return the decoder's state before the first step, from s_0, (n,)."""
    states = np.repeat(initial_state[None], int(config["layers"]), axis=0)
    size = len(initial_state) if config["family"] == "joey" else 0
    return DecoderState(states, states if config["cell"] == "lstm" else states[:0], np.zeros(size))


def step(
    weights: Weights, config: Config, annotations: Array, keys: Array, previous_state: DecoderState, previous_id: int
) -> tuple[dict[str, Array], DecoderState]:
    """Return one step, and the decoder's state after it.

    From annotations (Tx, 2m), keys (Tx, n'), the decoder's `previous_state` and the id of y_{i-1}. The arrays are named
    as in `trace.seq2seq_quantities`, with `logits` (K,) in addition.
    """
    word = word_of(weights, config, previous_id)
    arrays: dict[str, Array] = {}
    if config["family"] in ("tutorial", "pytorch"):
        arrays |= _attend(weights, annotations, keys, previous_state.states[-1])
        inputs = np.concatenate([word, arrays["contexts"]])
    else:
        inputs = np.concatenate([word, previous_state.readout]) if config["input_feeding"] else word
    layers: list[CellOutput] = []
    for layer, state in enumerate(previous_state.states):
        gates = [weights[f"decoder.rnn.{name}"] for name in names(layer)]
        layers.append(
            cell_output(gates, inputs, state, previous_state.memories[layer] if len(previous_state.memories) else state)
        )
        inputs = layers[-1].state
    arrays["gates"], arrays["layer_states"] = (
        np.stack([getattr(output, name) for output in layers]) for name in ("gates", "state")
    )
    arrays["memories"] = (
        np.stack([output.memory for output in layers]) if len(previous_state.memories) else previous_state.memories
    )
    if config["family"] == "joey":
        arrays |= _attend(weights, annotations, keys, inputs)
    arrays["readouts"] = _readout(weights, config, inputs, arrays["contexts"], word)
    arrays["logits"] = weights["decoder.output.weight"] @ arrays["readouts"] + weights["decoder.output.bias"]
    return arrays, DecoderState(arrays["layer_states"], arrays["memories"], arrays["readouts"])


def recompute(
    weights: Weights, config: Config, source_ids: Sequence[int], target_ids: Sequence[int]
) -> dict[str, Array]:
    """Compute every quantity of the translation of `source_ids` into `target_ids`, both with special pieces.

    These are the results of `step`, stacked, with annotations, first state, keys and score vector.
    """
    weights = to_float64(weights)
    annotations = encode(weights, config, source_ids)
    encoded = {
        "annotations": annotations,
        "initial_state": first_state(weights, config, annotations),
        "keys": keys_of(weights, annotations),
        "score_vector": score_of(weights),
    }
    state, steps = start_state(config, encoded["initial_state"]), list[dict[str, Array]]()
    for previous_id in (BOS, *target_ids[:-1]):
        arrays, state = step(weights, config, annotations, encoded["keys"], state, previous_id)
        steps.append(arrays)
    return encoded | {name: np.stack([step_arrays[name] for step_arrays in steps]) for name in steps[0]}


def _attend(weights: Weights, annotations: Array, keys: Array, state: Array) -> dict[str, Array]:
    query_weight = weights.get("decoder.query.weight")
    query = state if query_weight is None else query_weight @ state
    energies = energies_of(weights, query, keys)
    alignment = softmax(energies)
    return {"queries": query, "energies": energies, "alignment": alignment, "contexts": alignment @ annotations}


def _readout(weights: Weights, config: Config, state: Array, context: Array, word: Array) -> Array:
    if config["family"] == "tutorial":
        return np.concatenate([state, context, word])
    if config["family"] == "pytorch":
        return state
    wide = weights["decoder.readout.weight"] @ np.concatenate([state, context]) + weights["decoder.readout.bias"]
    readout: Array = np.tanh(wide)
    return readout
