"""Recurrent cells as torch.nn has them, in NumPy float64: one step, and both directions over a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.importing.checkpoint import Array

GATES = ("weight_ih_l{layer}", "weight_hh_l{layer}", "bias_ih_l{layer}", "bias_hh_l{layer}")


def names(layer: int, way: str = "") -> list[str]:
    """Return what torch.nn calls the weights of one layer and direction, "" or "_reverse"."""
    return [name.format(layer=layer) + way for name in GATES]


def cell(gates: Sequence[Array], given: Array, state: Array, memory: Array) -> tuple[Array, Array]:
    """Return the state and the memory, (n,) each, after one step of torch's LSTM, or of its GRU, which has no memory
    and whose reset gate acts after the recurrent product; which of them it is, the number of gates tells."""
    weight_ih, weight_hh, bias_ih, bias_hh = gates
    given, own, size = weight_ih @ given + bias_ih, weight_hh @ state + bias_hh, len(state)
    if len(given) == 4 * size:
        enter, forget, found, out = np.split(given + own, 4)
        memory = _sigmoid(forget) * memory + _sigmoid(enter) * np.tanh(found)
        return _sigmoid(out) * np.tanh(memory), memory
    (x_r, x_z, x_n), (u_r, u_z, u_n) = np.split(given, 3), np.split(own, 3)
    update = _sigmoid(x_z + u_z)
    return (1 - update) * np.tanh(x_n + _sigmoid(x_r + u_r) * u_n) + update * state, memory


def both_ways(weights: Mapping[str, Array], words: Array, layers: int) -> tuple[Array, Array]:
    """Return the annotations (Tx, 2m) of the last of several bidirectional layers over `words` (Tx, embedding size),
    and the last states of its two directions, (2m,)."""
    seen, ends = words, np.zeros(0)
    for layer in range(layers):
        forward = _run([weights[name] for name in names(layer)], seen)
        backward = _run([weights[name] for name in names(layer, "_reverse")], seen[::-1])[::-1]
        seen, ends = np.concatenate([forward, backward], axis=1), np.concatenate([forward[-1], backward[0]])
    return seen, ends


def _run(gates: Sequence[Array], words: Array) -> Array:
    state = memory = np.zeros(gates[1].shape[1])
    states = []
    for word in words:
        state, memory = cell(gates, word, state, memory)
        states.append(state)
    return np.stack(states)


def _sigmoid(values: Array) -> Array:
    found: Array = 0.5 * (1 + np.tanh(0.5 * values))  # which overflows for no argument
    return found
