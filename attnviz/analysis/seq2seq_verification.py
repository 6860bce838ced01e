"""Recompute an imported recurrent translator in NumPy float64, verify a step by it, and check shapes of weights.

Written from the equations, without code of `attnviz.network`. The config's `query` decides on the order:

    previous:  e_ij from s_{i-1}, then s_i = RNN(x_i, s_{i-1}), x_i = [E y_{i-1} ; c_i] or max(0, W_x of that + b_x)
    joined:    as previous, but e_ij from [E y_{i-1} ; s_{i-1} ; 1]
    new:       s_i = RNN([E y_{i-1} ; t_{i-1}], s_{i-1}) with t_0 = 0, or RNN(E y_{i-1}, s_{i-1}), then e_ij from s_i

and for the querying state s:

    e_ij = v . tanh(W_a s + U_a h_j + b_a), s . U_a h_j, s . h_j, or s . w_j for each position j
    alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j
    t_i = [s_i ; c_i ; E y_{i-1}], W_t [s_i ; c_i] + b_t, tanh of that, or s_i;  o_i = W_o t_i + b_o

`network.Seq2SeqConfig` lists the forms of the first state s_0.

Sizes: Tx source pieces; n state, m each encoder direction, n' alignment, r readout; L decoder layers; K vocabulary. For
an encoder that reads forwards only, 2m stands for m.

`Seq2SeqVerifier` computes each step from the saved weights, the recorded annotations and keys, and the recorded step
before; `recompute` uses the weights and the ids alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.cells import CellOutput, RNNOutput, cell_output, names, rnn_output
from attnviz.analysis.energy import energy_decomposition
from attnviz.analysis.fit import MisfitError, check_weight_shapes, misfit_message
from attnviz.analysis.logit_attribution import logit_attributions
from attnviz.analysis.measures import coverage, entropy
from attnviz.analysis.recomputation import Weights, log_softmax, softmax, submodule_weights
from attnviz.analysis.verification import LIKELIEST, Pairs, Verifier
from attnviz.text import BOS, PAD
from attnviz.trace import Seq2SeqTrace
from attnviz.trace.quantity import check_shapes

_PER_LAYER = ("layers", "projected", "rectified")
"""First states that begin each decoder layer with the last states of the encoder's layers."""
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


def encode(weights: Weights, config: Config, source_ids: Sequence[int]) -> RNNOutput:
    """Return h_j, (Tx, 2m), and the last states of all layers, after padding where the encoder reads it."""
    read = [*source_ids, *[PAD] * (int(config["source_length"]) - len(source_ids))]
    if config["attends_padding"]:
        read = read[: max(len(read) - read.count(PAD), 1)]
    words = np.asarray(weights["encoder.embedding.weight"][read], np.float64)
    words = words * np.sqrt(words.shape[1]) if config["source_scaled"] else words
    rnn = submodule_weights(weights, "encoder.rnn.")
    output = rnn_output(rnn, words, int(config["encoder_layers"]), int(config["directions"]))
    empty = np.zeros((max(len(source_ids) - len(read), 0), output.annotations.shape[1]))  # of padding
    return output._replace(annotations=np.concatenate([output.annotations, empty])[: len(source_ids)])


def start_state(weights: Weights, config: Config, encoded: RNNOutput) -> DecoderState:
    """Return the decoder's state before the first step: s_0 of all layers, with the cell states of an LSTM, t_0 = 0."""
    n, first, lstm = int(config["hidden_size"]), config["first_state"], config["cell"] == "lstm"
    if first in _PER_LAYER:
        states, memories = encoded.states, encoded.memories
        if first != "layers":
            states = _bridged(weights, "decoder.bridge", states, rectified=first == "rectified")
        if first != "layers" and lstm:
            memories = _bridged(weights, "decoder.memory_bridge", memories, rectified=first == "rectified")
    else:
        ends = encoded.states[-1]
        state = np.zeros(n) if first == "zero" else ends[:n]
        if first == "bridge":
            state = np.tanh(weights["decoder.bridge.weight"] @ ends + weights["decoder.bridge.bias"])
        states = memories = np.repeat(state[None], int(config["layers"]), axis=0)
    return DecoderState(states, memories if lstm else states[:0], np.zeros(n))


def _bridged(weights: Weights, name: str, ends: Array, *, rectified: bool) -> Array:
    """Return W h + b of each layer's last states (L, 2m), or max(0, W s + b) of L m numbers of all, (L, n)."""
    matrix, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    if not rectified:
        projected: Array = ends @ matrix.T + bias
        return projected
    halves = ends.reshape(-1, matrix.shape[1])
    return np.maximum(halves @ matrix.T + bias, 0).reshape(ends.shape)


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


class Seq2SeqVerifier(Verifier):
    """Verifies the steps of one trace; the encoder's numbers are recomputed once for all steps."""

    def __init__(self, trace: Seq2SeqTrace, weights: Mapping[str, NDArray[Any]]) -> None:
        """Take the trace and the weights of its model (`load_weights`).

        Raise MisfitError where they are of a model of another kind or size.
        """
        check_seq2seq_fit(trace, weights)
        self.trace, self.weights = trace, to_float64(weights)

    def pairs(self, step: int, pieces: Sequence[int] = (), *, with_heatmap_posterior: bool = False) -> Pairs:  # noqa: ARG002
        """Return all numbers of 0-based `step`, as displayed and as recomputed.

        These are annotations, first state, keys, query, energies and their units, alignment with entropy and coverage,
        context, gates, cell states and states of all layers, readout, probabilities and, where logits are linear, the
        logit attributions of the chosen piece, the likeliest ones and `pieces`. `with_heatmap_posterior` has no effect:
        imports have no posterior attention.
        """
        trace, recomputed = self.trace, self._steps[step]
        probabilities = softmax(recomputed["logits"])
        pairs: dict[str, tuple[Any, Array]] = dict(self._by_encoder)
        pairs |= {name: (getattr(trace, name)[step], values) for name, values in recomputed.items() if name != "logits"}
        pairs["top_probabilities"] = trace.top_probabilities[step], probabilities[trace.top_ids[step]]
        wanted = log_softmax(recomputed["logits"])[trace.target_ids[step]]
        pairs["log_probabilities"] = trace.log_probabilities[step], wanted
        alignment = recomputed["alignment"]
        positive = alignment[alignment > 0]
        pairs["entropy"] = entropy(trace.alignment[step]), np.asarray(-(positive @ np.log2(positive)))
        total = np.stack([arrays["alignment"] for arrays in self._steps]).sum(axis=0)
        pairs["coverage"] = coverage(trace.alignment), total
        units = [energy_decomposition(trace, self.weights, step, j) for j in range(len(trace.source_pieces))]
        pairs["energy sums"] = [decomposition.energy for decomposition in units], recomputed["energies"]
        if trace.linear:
            shown = list(dict.fromkeys([trace.target_ids[step], *trace.top_ids[step, :LIKELIEST].tolist(), *pieces]))
            entries = logit_attributions(trace, self.weights, [(step, piece) for piece in shown])
            pairs["attribution sums"] = [entry.logit for entry in entries], recomputed["logits"][shown]
        return pairs

    @cached_property
    def _by_encoder(self) -> dict[str, tuple[Any, Array]]:
        """Numbers that are the same at every step, as displayed and as recomputed."""
        trace, weights = self.trace, self.weights
        encoded = encode(weights, trace.config, trace.source_ids)
        first = start_state(weights, trace.config, encoded)
        return {
            "annotations": (trace.annotations, encoded.annotations),
            "initial_state": (trace.initial_state, first.states[-1]),
            "initial_states": (trace.initial_states, first.states),
            "initial_memories": (trace.initial_memories, first.memories),
            "keys": (trace.keys, keys_of(weights, _float64(trace.annotations))),
            "score_vector": (trace.score_vector, score_of(weights)),
        }

    @cached_property
    def _steps(self) -> list[dict[str, Array]]:
        """Every step, recomputed from the recorded step before it."""
        trace, annotations, keys = self.trace, _float64(self.trace.annotations), _float64(self.trace.keys)
        previous_state, steps = (
            DecoderState(
                _float64(trace.initial_states), _float64(trace.initial_memories), np.zeros_like(trace.initial_state)
            ),
            [],
        )
        for i, previous_id in enumerate(trace.previous_ids):
            steps.append(step(self.weights, trace.config, annotations, keys, previous_state, previous_id)[0])
            previous_state = DecoderState(*map(_float64, (trace.layer_states[i], trace.memories[i], trace.readouts[i])))
        return steps


def check_seq2seq_fit(trace: Seq2SeqTrace, weights: Mapping[str, NDArray[Any]]) -> None:
    """Raise MisfitError unless `weights`, by parameter name, and the arrays of `trace` have the expected shapes."""
    try:
        check_shapes(trace)
        expected = weight_shapes(trace.config)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise MisfitError(misfit_message(trace, error)) from error
    check_weight_shapes(trace, weights, expected)


def weight_shapes(config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shape of every weight of an imported translator with this config."""
    directions = ("", "_reverse")[: int(config["directions"])]
    m, n, units = (int(config[name]) for name in ("encoder_size", "hidden_size", "alignment_size"))
    context_size = len(directions) * m
    words, source_words = int(config["embedding_size"]), int(config["source_embedding_size"])
    vocabulary = int(config["vocabulary_size"])
    shapes: dict[str, tuple[int, ...]] = {
        "encoder.embedding.weight": (int(config["source_vocabulary_size"]), source_words),
        "decoder.embedding.weight": (vocabulary, words),
        "decoder.output.weight": (vocabulary, n + context_size + words if config["readout"] == "joined" else n),
        "decoder.output.bias": (vocabulary,),
    }
    if config["attention"] == "location":
        shapes["decoder.place.weight"] = (int(config["source_length"]), units)
    if config["combined"]:
        shapes |= {"decoder.combine.weight": (n, words + context_size), "decoder.combine.bias": (n,)}
    if config["attention"] in ("additive", "general"):
        shapes |= {"decoder.key.weight": (units, context_size), "decoder.key.bias": (units,)}
    if config["attention"] == "additive":
        shapes |= {"decoder.query.weight": (units, n), "decoder.score": (units,)}
    first = config["first_state"]
    rows, columns = (int(config["layers"]) * m,) * 2 if first == "rectified" else (n, context_size)
    if first in ("bridge", "projected", "rectified"):
        shapes |= {"decoder.bridge.weight": (rows, columns), "decoder.bridge.bias": (rows,)}
    if first in ("projected", "rectified") and config["cell"] == "lstm":
        shapes |= {"decoder.memory_bridge.weight": (rows, columns), "decoder.memory_bridge.bias": (rows,)}
    if config["readout"] in ("affine", "tanh"):
        shapes |= {"decoder.readout.weight": (n, n + context_size), "decoder.readout.bias": (n,)}
    blocks = {"encoder": config["encoder_cell"], "decoder": config["cell"]}
    decoder_inputs = words + (n * bool(config["input_feeding"]) if config["query"] == "new" else context_size)
    decoder_inputs = n if config["combined"] else decoder_inputs
    for side, ways, size, first in (("encoder", directions, m, source_words), ("decoder", ("",), n, decoder_inputs)):
        for layer in range(int(config["encoder_layers" if side == "encoder" else "layers"])):
            inputs = first if layer == 0 else size * len(ways)
            for direction in ways:
                rows = size * (3 if blocks[side] == "gru" else 4)
                gate_shapes = ((rows, inputs), (rows, size), (rows,), (rows,))
                named = zip(names(layer, direction), gate_shapes, strict=True)
                shapes |= {f"{side}.rnn.{name}": shape for name, shape in named}
    return shapes


def _float64(values: NDArray[Any]) -> Array:
    return np.asarray(values, dtype=np.float64)
