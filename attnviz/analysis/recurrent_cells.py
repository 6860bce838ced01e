"""GRU and LSTM cells with torch.nn's equations in NumPy float64: one step, and bidirectional layers over a sentence.

Sizes: Tx inputs, i the size of an input, n of a state, m of each direction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from attnviz.trace.parts import Array

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


def names(layer: int, direction: str = "") -> list[str]:
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
        i, f, g, o = _sigmoid(i), _sigmoid(f), np.tanh(g), _sigmoid(o)
        memory = f * memory + i * g
        return CellOutput(o * np.tanh(memory), memory, np.stack([i, f, g, o], axis=-2))
    (x_r, x_z, x_n), (u_r, u_z, u_n) = np.split(from_inputs, 3, axis=-1), np.split(from_state, 3)
    reset, update = _sigmoid(x_r + u_r), _sigmoid(x_z + u_z)
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
        onward = _run([weights[name] for name in names(layer)], words)
        if directions == 2:
            back = _run([weights[name] for name in names(layer, "_reverse")], words[::-1])
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


def _sigmoid(values: Array) -> Array:
    result: Array = 0.5 * (1 + np.tanh(0.5 * values))  # unlike 1 / (1 + exp(-x)), this never overflows
    return result
