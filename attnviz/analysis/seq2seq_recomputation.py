"""Recompute an imported recurrent translator for one sentence in NumPy float64, for verification.

Written from the equations, without code of `attnviz.network`. The config's `query` decides on the order:

    previous:  e_ij from s_{i-1}, then s_i = RNN(x_i, s_{i-1}), x_i = [E y_{i-1} ; c_i] or max(0, W_x of that + b_x)
    joined:    as previous, but e_ij from [E y_{i-1} ; s_{i-1} ; 1]
    new:       s_i = RNN([E y_{i-1} ; t_{i-1}], s_{i-1}) with t_0 = 0, or RNN(E y_{i-1}, s_{i-1}), then e_ij from s_i

and for the querying state s:

    e_ij = v . tanh(W_a s + U_a h_j + b_a), s . U_a h_j, s . h_j, or s . w_j for each position j
    alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j
    t_i = [s_i ; c_i ; E y_{i-1}], W_t [s_i ; c_i] + b_t, tanh of that, or s_i;  o_i = W_o t_i + b_o

Sizes: Tx source pieces; n state, m each encoder direction, n' alignment, r readout; L decoder layers; K vocabulary. For
an encoder that reads forwards only, 2m stands for m.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.cells import CellOutput, RNNOutput, cell_output, names, rnn_output
from attnviz.analysis.recomputation import Weights, softmax, submodule_weights
from attnviz.text import BOS, PAD

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


def encode(weights: Weights, config: Config, source_ids: Sequence[int], padding: int = PAD) -> RNNOutput:
    """Return h_j, (Tx, 2m), and the last states of all layers, after `padding` where the encoder reads it."""
    read = [*source_ids, *[padding] * (int(config["source_length"]) - len(source_ids))]
    if config["attends_padding"]:
        read = read[: max(len(read) - read.count(padding), 1)]
    words = np.asarray(weights["encoder.embedding.weight"][read], np.float64)
    words = words * np.sqrt(words.shape[1]) if config["source_scaled"] else words
    rnn = submodule_weights(weights, "encoder.rnn.")
    output = rnn_output(rnn, words, int(config["encoder_layers"]), int(config["directions"]))
    empty = np.zeros((max(len(source_ids) - len(read), 0), output.annotations.shape[1]))  # of padding
    return output._replace(annotations=np.concatenate([output.annotations, empty])[: len(source_ids)])


def start_state(weights: Weights, config: Config, encoded: RNNOutput) -> DecoderState:
    """Return the decoder's state before the first step: s_0 of all layers, with the cell states of an LSTM, t_0 = 0."""
    n, first, lstm = int(config["hidden_size"]), config["first_state"], config["cell"] == "lstm"
    if first in ("layers", "projected"):
        states, memories = encoded.states, encoded.memories
        if first == "projected":
            states = states @ weights["decoder.bridge.weight"].T + weights["decoder.bridge.bias"]
        if first == "projected" and lstm:
            memories = memories @ weights["decoder.memory_bridge.weight"].T + weights["decoder.memory_bridge.bias"]
    else:
        ends = encoded.states[-1]
        state = np.zeros(n) if first == "zero" else ends[:n]
        if first == "bridge":
            state = np.tanh(weights["decoder.bridge.weight"] @ ends + weights["decoder.bridge.bias"])
        states = memories = np.repeat(state[None], int(config["layers"]), axis=0)
    return DecoderState(states, memories if lstm else states[:0], np.zeros(n))


def keys_of(weights: Weights, annotations: Array) -> Array:
    """Return U_a h_j + b_a, (Tx, n'), from annotations (Tx, 2m); otherwise w_j or the annotations."""
    if "decoder.place.weight" in weights:
        return np.asarray(weights["decoder.place.weight"], np.float64)
    if "decoder.key.weight" not in weights:
        return annotations
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


def step(
    weights: Weights, config: Config, annotations: Array, keys: Array, previous_state: DecoderState, previous_id: int
) -> tuple[dict[str, Array], DecoderState]:
    """Return one step, and the decoder's state after it.

    From annotations (Tx, 2m), keys (Tx, n'), the decoder's `previous_state` and the id of y_{i-1}. The arrays are named
    as in `trace.seq2seq_trace`, with `logits` (K,) in addition.
    """
    word = word_of(weights, config, previous_id)
    arrays: dict[str, Array] = {}
    if config["query"] != "new":
        arrays |= _attend(weights, config, annotations, keys, previous_state.states[-1], word)
        inputs = np.concatenate([word, arrays["contexts"]])
        if config["combined"]:
            inputs = np.maximum(weights["decoder.combine.weight"] @ inputs + weights["decoder.combine.bias"], 0)
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
    if config["query"] == "new":
        arrays |= _attend(weights, config, annotations, keys, inputs, word)
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
    output = encode(weights, config, source_ids)
    annotations, state = output.annotations, start_state(weights, config, output)
    encoded = {
        "annotations": annotations,
        "initial_state": state.states[-1],
        "initial_states": state.states,
        "initial_memories": state.memories,
        "keys": keys_of(weights, annotations),
        "score_vector": score_of(weights),
    }
    steps = list[dict[str, Array]]()
    for previous_id in (BOS, *target_ids[:-1]):
        arrays, state = step(weights, config, annotations, encoded["keys"], state, previous_id)
        steps.append(arrays)
    return encoded | {name: np.stack([step_arrays[name] for step_arrays in steps]) for name in steps[0]}


def _attend(
    weights: Weights, config: Config, annotations: Array, keys: Array, state: Array, word: Array
) -> dict[str, Array]:
    query_weight = weights.get("decoder.query.weight")
    query = state if query_weight is None else query_weight @ state
    if config["query"] == "joined":
        query = np.concatenate([word, state, [1.0]])
    energies = energies_of(weights, query, keys)
    alignment = softmax(energies)
    return {"queries": query, "energies": energies, "alignment": alignment, "contexts": alignment @ annotations}


def _readout(weights: Weights, config: Config, state: Array, context: Array, word: Array) -> Array:
    if config["readout"] == "joined":
        return np.concatenate([state, context, word])
    if config["readout"] == "state":
        return state
    affine: Array = (
        weights["decoder.readout.weight"] @ np.concatenate([state, context]) + weights["decoder.readout.bias"]
    )
    return np.tanh(affine) if config["readout"] == "tanh" else affine
