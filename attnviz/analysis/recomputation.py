"""Recompute a recurrent translator, and posterior attention, for one sentence in NumPy float64, for verification.

Written from the equations, without code of `attnviz.network`, `analysis.likelihood` or `analysis.posterior`. The form
of the translator (`imported_families.form_of`) decides on the order of a step by its `query`:

    previous:  e_ij from s_{i-1}, then s_i = RNN(x_i, s_{i-1}), x_i = [E y_{i-1} ; c_i] or max(0, W_x of that + b_x)
    joined:    as previous, but e_ij from [E y_{i-1} ; s_{i-1} ; 1]
    new:       s_i = RNN([E y_{i-1} ; t_{i-1}], s_{i-1}) with t_0 = 0, or RNN(E y_{i-1}, s_{i-1}), then e_ij from s_i

and for the querying state s, with the kinds of attention in `analysis.numpy_scorers`:

    e_ij = v . tanh(W_a s + U_a h_j + b_a), s . U_a h_j, s . h_j, or s . w_j for each position j
    alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j
    t_i = maxout(U_o s + V_o E y_{i-1} + C_o c_i + b) with s = s_{i-1} or s_i,
          [s_i ; c_i ; E y_{i-1}], W_t [s_i ; c_i] + b_t, tanh of that, or s_i
    o_i = W_o t_i + b_o

`network.Seq2SeqConfig` lists the forms of the first state s_0. `load_weights` and the functions that other
recomputations share are here too.

Symbols and sizes are those of `trace.trace`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.numpy_scorers import scorer_of
from attnviz.imported_families import form_of
from attnviz.text import PAD
from attnviz.trace import Array, Indices, float64
from attnviz.trace.interventions import (
    AttentionIntervention,
    ExcludePosition,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
)

_GATES = ("weight_ih_l{layer}", "weight_hh_l{layer}", "bias_ih_l{layer}", "bias_hh_l{layer}")


class CellOutput(NamedTuple):
    """Output of a cell for one input."""

    state: Array
    """The state, (..., n)."""
    memory: Array
    """Cell state of an LSTM, (..., n); for a GRU, which has none, its state."""
    gates: Array
    """Gates after sigmoid or tanh, in torch's order.

    r, z and candidate of a GRU, (..., 3, n); input, forget, candidate and output of an LSTM, (..., 4, n).
    """


def rnn_weight_names(layer: int, direction: str = "") -> list[str]:
    """Return torch.nn's names of the weights of one layer and direction, "" or "_reverse"."""
    return [name.format(layer=layer) + direction for name in _GATES]


def cell_output(weights: Sequence[Array], inputs: Array, state: Array, memory: Array) -> CellOutput:
    """Return one step of torch's GRU or LSTM, from inputs (..., i), state (n,) and cell state (n,).

    The number of gates decides which. In torch's GRU the reset gate acts after the recurrent product.
    """
    weight_ih, weight_hh, bias_ih, bias_hh = weights
    from_inputs, from_state = inputs @ weight_ih.T + bias_ih, weight_hh @ state + bias_hh
    if len(from_state) == 4 * len(state):
        i, f, g, o = np.split(from_inputs + from_state, 4, axis=-1)
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        memory = f * memory + i * g
        return CellOutput(o * np.tanh(memory), memory, np.stack([i, f, g, o], axis=-2))
    (x_r, x_z, x_n), (u_r, u_z, u_n) = np.split(from_inputs, 3, axis=-1), np.split(from_state, 3)
    reset, update = sigmoid(x_r + u_r), sigmoid(x_z + u_z)
    candidate = np.tanh(x_n + reset * u_n)
    new_state = (1 - update) * candidate + update * state
    return CellOutput(new_state, new_state, np.stack([reset, update, candidate], axis=-2))


class RNNOutput(NamedTuple):
    """Output of L layers that read Tx inputs in one or both directions; an annotation has m or 2m numbers."""

    annotations: Array
    """[forward h_j ; backward h_j] of the last layer, (Tx, 2m)."""
    states: Array
    """Last states [forward h_Tx ; backward h_1] of each layer, (L, 2m)."""
    memories: Array
    """The same of the cell states of an LSTM, (L, 2m); for a GRU, which has none, its states."""


def rnn_output(weights: Mapping[str, Array], words: Array, layers: int, directions: int) -> RNNOutput:
    """Return the output of `layers` that read `words` (Tx, embedding size) in 1 or 2 directions."""
    states, memories = list[Array](), list[Array]()
    for layer in range(layers):
        onward = _run([weights[name] for name in rnn_weight_names(layer)], words)
        if directions == 2:
            back = _run([weights[name] for name in rnn_weight_names(layer, "_reverse")], words[::-1])
            words = np.concatenate([onward[0], back[0][::-1]], axis=1)
            ends = [np.concatenate([one[-1], other[-1]]) for one, other in zip(onward, back, strict=True)]
        else:
            words, ends = onward[0], [one[-1] for one in onward]
        states.append(ends[0])
        memories.append(ends[1])
    return RNNOutput(words, np.stack(states), np.stack(memories))


def _run(gates: Sequence[Array], words: Array) -> tuple[Array, Array]:
    """Return the states and cell states of one layer and direction after each of the `words`, both (Tx, m)."""
    state = memory = np.zeros(gates[1].shape[1])
    states, memories = list[Array](), list[Array]()
    for word in words:
        state, memory, _ = cell_output(gates, word, state, memory)
        states.append(state)
        memories.append(memory)
    return np.stack(states), np.stack(memories)


def sigmoid(values: Array) -> Array:
    """Return 1 / (1 + exp(-x)) of numbers of any shape; unlike that, tanh never overflows."""
    return 0.5 * (1 + np.tanh(0.5 * values))


Weights = Mapping[str, NDArray[Any]]

_NAMES = {
    "encoder.gru.": "encoder.rnn.",
    "decoder.initial.": "decoder.bridge.",
    "decoder.query.": "decoder.attention.query.",
    "decoder.key.": "decoder.attention.key.",
    "decoder.place.": "decoder.attention.place.",
    "decoder.score": "decoder.attention.score",
    **{f"decoder.gru.{name.removesuffix('_l0')}": f"decoder.rnn.{name}" for name in rnn_weight_names(0)},
}
"""Beginnings of names of weights that differ between RNNsearch and imported translators, and those used here."""
_PER_LAYER = ("layers", "projected", "rectified")
"""First states that begin each decoder layer with the last states of the encoder's layers."""


class RecurrentState(NamedTuple):
    """State of the decoder between steps."""

    states: Array
    """s_i in every layer, (L, n)."""
    memories: Array
    """Cell states, (L, n), or (0, n) for GRUs."""
    readout: Array
    """t_i, (l,)."""
    alignment: Array
    """alpha_i, (Tx,); 0 before the first step."""


class RecurrentEquations:
    """The equations of a recurrent translator, with its weights in float64 by one set of names."""

    def __init__(self, weights: Weights, config: Mapping[str, Any]) -> None:
        """Take the weights by parameter name, and the config of the model."""
        self.form, self.scorer = form_of(config), scorer_of(config)
        self.weights = {_name(name): value for name, value in weights.items()}
        for name, value in self.weights.items():
            if not name.endswith("embedding.weight"):  # a step reads one row of these
                self.weights[name] = float64(value)
        self.decoder = submodule_weights(self.weights, "decoder.")

    def encode(self, source_ids: Sequence[int]) -> RNNOutput:
        """Return h_j, (Tx, 2m), and the last states of all layers, after padding where the encoder reads it."""
        read = [*source_ids, *[PAD] * (int(self.form["source_length"]) - len(source_ids))]
        if self.form["attends_padding"]:
            read = read[: max(len(read) - read.count(PAD), 1)]
        words = float64(self.weights["encoder.embedding.weight"][read])
        words = words * np.sqrt(words.shape[1]) if self.form["source_scaled"] else words
        rnn = submodule_weights(self.weights, "encoder.rnn.")
        output = rnn_output(rnn, words, int(self.form["encoder_layers"]), int(self.form["directions"]))
        empty = np.zeros((max(len(source_ids) - len(read), 0), output.annotations.shape[1]))  # of padding
        return output._replace(annotations=np.concatenate([output.annotations, empty])[: len(source_ids)])

    def start(self, encoded: RNNOutput) -> RecurrentState:
        """Return the state before the first step: s_0 of all layers, with the cell states of an LSTM, and t_0 = 0."""
        first, lstm = self.form["first_state"], self.form["cell"] == "lstm"
        n = self.decoder["rnn.weight_hh_l0"].shape[1]
        if first in _PER_LAYER:
            states, memories = encoded.states, encoded.memories
            if first != "layers":
                states = self._bridged("bridge", states, rectified=first == "rectified")
            if first != "layers" and lstm:
                memories = self._bridged("memory_bridge", memories, rectified=first == "rectified")
        else:
            ends = encoded.states[-1]  # [forward h_Tx ; backward h_1]
            state = np.zeros(n) if first == "zero" else ends[:n]
            if first in ("bridge", "backward"):
                ends = ends[len(ends) // 2 :] if first == "backward" else ends
                state = np.tanh(self.decoder["bridge.weight"] @ ends + self.decoder["bridge.bias"])
            states = memories = np.repeat(state[None], int(self.form["layers"]), axis=0)
        return RecurrentState(states, memories if lstm else states[:0], np.zeros(n), np.zeros(len(encoded.annotations)))

    def _bridged(self, name: str, ends: Array, *, rectified: bool) -> Array:
        """Return W h + b of each layer's last states (L, 2m), or max(0, W s + b) of L m numbers of all, (L, n)."""
        matrix, bias = self.decoder[f"{name}.weight"], self.decoder[f"{name}.bias"]
        if not rectified:
            return ends @ matrix.T + bias
        halves = ends.reshape(-1, matrix.shape[1])
        return np.maximum(halves @ matrix.T + bias, 0).reshape(ends.shape)

    def keys(self, annotations: Array) -> Array:
        """Return the keys, (Tx, n'), from annotations (Tx, 2m)."""
        return self.scorer.keys(self.decoder, annotations)

    def word(self, piece_id: int) -> Array:
        """Return E y, (embedding size,), scaled as by the config."""
        word = float64(self.decoder["embedding.weight"][piece_id])
        return word * np.sqrt(len(word)) if self.form["target_scaled"] else word

    def step(
        self,
        annotations: Array,
        keys: Array,
        before: RecurrentState,
        previous_id: int,
        interventions: Sequence[AttentionIntervention] = (),
        energies: Array | None = None,
    ) -> tuple[dict[str, Array], RecurrentState]:
        """Return one step, named as in `trace.trace`, and the decoder's state after it.

        From annotations (Tx, 2m), keys (Tx, n'), the state `before`, the id of y_{i-1} and the step's `interventions`.
        Recorded `energies` (Tx,) take the place of those of a scorer without NumPy class.
        """
        word = self.word(previous_id)
        arrays = dict[str, Array]()
        if self.form["query"] != "new":
            arrays |= self.attend(annotations, keys, before.states[-1], word, before.alignment, interventions, energies)
            inputs = self.inputs(word, arrays["contexts"])
        else:
            inputs = np.concatenate([word, before.readout]) if self.form["input_feeding"] else word
        layers = self.layers(inputs, before)
        state = layers[-1].state
        if self.form["query"] == "new":
            arrays |= self.attend(annotations, keys, state, word, before.alignment, interventions, energies)
        arrays["gates"] = np.stack([layer.gates for layer in layers])
        arrays["layer_states"] = np.stack([layer.state for layer in layers])
        lstm = len(before.memories) > 0
        arrays["memories"] = np.stack([layer.memory for layer in layers]) if lstm else before.memories
        arrays["readouts"] = self.readout(arrays["contexts"], before.states[-1], state, word)
        return arrays, RecurrentState(
            arrays["layer_states"], arrays["memories"], arrays["readouts"], arrays["alignment"]
        )

    def attend(
        self,
        annotations: Array,
        keys: Array,
        state: Array,
        word: Array,
        previous_alignment: Array,
        interventions: Sequence[AttentionIntervention] = (),
        energies: Array | None = None,
    ) -> dict[str, Array]:
        """Return query (n',), features (Tx, r), energies (Tx,), alignment (Tx,) and context (c,) of one step.

        The query is that of the `state` (n,), and by config of the `word` E y_{i-1}. The energies are those without the
        `interventions`; where some are given, neither they nor query and features are returned.
        """
        arrays = dict[str, Array]()
        if energies is None:
            query = self.scorer.query(self.decoder, state)
            if self.form["query"] == "joined":
                query = np.concatenate([word, state, [1.0]])
            features = self.scorer.features(self.decoder, previous_alignment)
            energies = self.scorer.energies(self.decoder, query, keys, features)
            arrays = {"queries": query, "features": features, "energies": energies}
        alignment = softmax(changed_energies(energies, interventions))
        context = alignment @ annotations[:, : self.scorer.context_size(annotations.shape[1])]
        return arrays | {"alignment": alignment, "contexts": context}

    def inputs(self, word: Array, contexts: Array) -> Array:
        """Return x_i, (..., input size), from E y_{i-1} (m,) and contexts (..., c), where the query is s_{i-1}."""
        words = np.broadcast_to(word, (*contexts.shape[:-1], len(word)))
        inputs = np.concatenate([words, contexts], axis=-1)
        if self.form["combined"]:
            inputs = np.maximum(inputs @ self.decoder["combine.weight"].T + self.decoder["combine.bias"], 0)
        return inputs

    def layers(self, inputs: Array, before: RecurrentState) -> list[CellOutput]:
        """Return the output of every layer of the decoder, from x_i (..., input size)."""
        layers = list[CellOutput]()
        memories = before.memories if len(before.memories) else before.states
        for layer, (state, memory) in enumerate(zip(before.states, memories, strict=True)):
            cell = [self.decoder[f"rnn.{name}"] for name in rnn_weight_names(layer)]
            layers.append(cell_output(cell, inputs, state, memory))
            inputs = layers[-1].state
        return layers

    def readout(self, contexts: Array, before: Array, state: Array, word: Array) -> Array:
        """Return t_i, (..., l), from contexts (..., c), s_{i-1} (n,), s_i (..., n) and E y_{i-1} (m,)."""
        if self.form["readout"] == "maxout":
            current = self.form["readout_state"] == "current"
            return maxout(self.maxout_input(contexts, state if current else before, word))
        if self.form["readout"] == "joined":
            return np.concatenate([state, contexts, word])
        if self.form["readout"] == "state":
            return state
        joined = np.concatenate([state, contexts])
        affine: Array = self.decoder["readout.weight"] @ joined + self.decoder["readout.bias"]
        return np.tanh(affine) if self.form["readout"] == "tanh" else affine

    def maxout_input(self, contexts: Array, state: Array, word: Array) -> Array:
        """Return t~_i = U_o s + V_o E y_{i-1} + C_o c_i + b, (..., 2l), from the state s (..., n) that is read."""
        return (
            state @ self.decoder["readout_state.weight"].T
            + self.decoder["readout_state.bias"]
            + self.decoder["readout_word.weight"] @ word
            + contexts @ self.decoder["readout_context.weight"].T
        )

    def logits(self, readouts: Array) -> Array:
        """Return o_i = W_o t_i + b_o: (..., l) to (..., K)."""
        return readouts @ self.decoder["output.weight"].T + self.decoder["output.bias"]

    def maxout_inputs_of(self, contexts: Array, before: RecurrentState, word: Array) -> Array:
        """Return t~_i, (..., 2l), of RNNsearch with other contexts (..., c) in a step after the state `before`."""
        state = before.states[-1]
        if self.form["readout_state"] == "current":
            state = self.layers(self.inputs(word, contexts), before)[-1].state
        return self.maxout_input(contexts, state, word)

    def log_likelihood(self, annotations: Array, before: RecurrentState, word: Array, piece: int) -> Array:
        """Return log p(y_i = piece | s_{i-1}, y_{i-1}, c = h_j), (Tx,): the step with each annotation as its context.

        From annotations (Tx, 2m), the state `before` and E y_{i-1} (m,).
        """
        return log_softmax(self.logits(maxout(self.maxout_inputs_of(annotations, before, word))))[:, piece]

    def heatmap_posterior(
        self,
        annotations: Array,
        states: Sequence[RecurrentState],
        words: Sequence[Array],
        pieces: Sequence[int],
        alignment: Array,
    ) -> Array:
        """Return the posterior attention of the heatmap, (Ty, Tx).

        It is (alpha p)^(3/4) exp(fit / 4), normalised over each row, divided by the square root of its column's sum,
        and normalised again. From the state before each step, E y_{i-1} (m,), y_i and alpha (Ty, Tx).
        """
        scores, mean = np.empty(alignment.shape), self.decoder["output.weight"].mean(axis=0)
        added = (annotations @ self.decoder["readout_context.weight"].T).reshape(len(annotations), -1, 2)
        for i, piece in enumerate(pieces):
            log_likelihoods = self.log_likelihood(annotations, states[i], words[i], piece)
            output_row = self.decoder["output.weight"][piece] - mean
            # What each annotation with weight 1 adds to t_i through the step's maxout winners, (Tx, l).
            first = self.maxout_inputs_of(alignment[i] @ annotations, states[i], words[i]).reshape(-1, 2)
            wins = np.stack([first[:, 0] >= first[:, 1], first[:, 0] < first[:, 1]], axis=1)
            fit = (added * wins).sum(axis=2) @ output_row
            with np.errstate(divide="ignore"):
                scores[i] = 0.75 * (np.log(alignment[i]) + log_likelihoods) + 0.25 * fit
        columns = softmax(scores).sum(axis=0) + 1e-6
        return softmax(scores - 0.5 * np.log(columns))


def _name(name: str) -> str:
    """Return the name by which this module knows a weight."""
    for beginning, known in _NAMES.items():
        if name.startswith(beginning):
            return known + name.removeprefix(beginning)
    return name


def maxout(pairs: Array) -> Array:
    """Return the larger of each pair of neighbours: (..., 2l) to (..., l)."""
    return np.maximum(pairs[..., 0::2], pairs[..., 1::2])


def maxout_winners(pairs: Array) -> Indices:
    """Return the index of the larger of each pair of neighbours, the first of equals: (R, 2l) to (R, l)."""
    return np.arange(0, pairs.shape[1], 2) + pairs.reshape(len(pairs), -1, 2).argmax(axis=2)


def softmax(energies: Array) -> Array:
    """Return exp(e_j) / sum_k exp(e_k): (..., Tx) to (..., Tx), in [0, 1], sum 1."""
    powers = np.exp(energies - energies.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def log_softmax(logits: Array) -> Array:
    """Return log softmax(logits): (..., K) to (..., K), finite also where a probability underflows."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def entropy_of(alignment: Array) -> Array:
    """Return H = -sum_j alpha_j log2 alpha_j, in bits, to verify `measures.entropy`: (Tx,) to ()."""
    positive = alignment[alignment > 0]
    return np.asarray(-(positive @ np.log(positive)) / np.log(2))


def submodule_weights(weights: Weights, prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin with `prefix`, by the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}


def changed_energies(energies: Array, interventions: Iterable[AttentionIntervention]) -> Array:
    """Return the energies (Tx,) after the interventions, applied in order."""
    for intervention in interventions:
        match intervention:
            case ReplaceWeights(weights=row):
                with np.errstate(divide="ignore"):
                    energies = np.log(float64(row))
            case ReplaceEnergies(energies=row):
                energies = float64(row)
            case Temperature(temperature=math.inf):
                energies = np.where(np.isneginf(energies), energies, 0.0)
            case Temperature(temperature=temperature):
                energies = energies / temperature
            case ExcludePosition(position=position):
                energies = np.where(np.arange(len(energies)) == position, -np.inf, energies)
    return energies


Operand = Callable[[str, int, Array], Array]
"""Maps a quantity's name, its 0-based layer or block, and its recomputed value to the value used next."""


class RecomputedPass:
    """One pass through a network, which stores every quantity."""

    def __init__(self, weights: Weights, operand: Operand) -> None:
        self.weights, self.operand = weights, operand
        self.quantities: dict[str, list[Array]] = {}
        """The computed values of each quantity, by layer or block."""

    def store(self, name: str, computed: Array) -> Array:
        """Store a computed value, and return the value to continue with."""
        places = self.quantities.setdefault(name, [])
        places.append(computed)
        return self.operand(name, len(places) - 1, computed)


def recomputed_bayes(prior: Array, logarithms: Array) -> Array:
    """Return the posterior, (Tx,), of a prior (Tx,) and log likelihoods (Tx,)."""
    with np.errstate(divide="ignore"):
        return softmax(np.log(prior) + logarithms)
