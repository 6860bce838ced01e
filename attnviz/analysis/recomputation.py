"""The whole network once more, for one sentence, in NumPy float64: written from the equations, to check a trace by.

Nothing here is shared with `attnviz.network`: what the two agree on was computed twice. The GRU is
torch.nn.GRU's (the reset gate acts after the recurrent product, and z keeps the old state).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz import model_folder
from attnviz.text import BOS
from attnviz.trace import Trace

Array = NDArray[np.float64]
Weights = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Recomputation:
    """Every quantity of a translation in float64; names and shapes are those of `Trace`."""

    annotations: Array
    initial_state: Array
    keys: Array
    queries: Array
    energies: Array
    alignment: Array
    contexts: Array
    states: Array
    update_gates: Array
    reset_gates: Array
    candidates: Array
    readouts: Array
    logits: Array
    """W_o t_i + b_o, (Ty, K)."""
    probabilities: Array
    """p(y_i | y_<i, x) of every piece of the vocabulary, (Ty, K)."""


def load_weights(folder: str | Path) -> dict[str, NDArray[Any]]:
    """Return the arrays in `folder`/model.safetensors; raise AttnvizError, naming the file, where that fails."""
    return model_folder.load_weights(folder)


def recompute(
    weights: Weights, config: Mapping[str, Any], source_ids: Sequence[int], target_ids: Sequence[int]
) -> Recomputation:
    """Translate `source_ids` into the given `target_ids` (both with `</s>`), keeping everything.

    `weights` maps the names in model.safetensors to arrays; of `config`, `attention` and `readout_state` are read.
    """
    exact = {name: np.asarray(value, dtype=np.float64) for name, value in weights.items()}
    encoder, decoder = below(exact, "encoder."), below(exact, "decoder.")
    annotations = encode(encoder, source_ids)
    n = annotations.shape[1] // 2
    initial = np.tanh(decoder["initial.weight"] @ annotations[0, n:] + decoder["initial.bias"])
    keys = project_keys(decoder, annotations, config["attention"])
    steps: dict[str, list[Array]] = {}
    state = initial
    for previous in (BOS, *target_ids[:-1]):
        step = decode_step(decoder, config, annotations, keys, state, decoder["embedding.weight"][previous])
        state = step["states"]
        for name, value in step.items():
            steps.setdefault(name, []).append(value)
    by_step = {name: np.stack(rows) for name, rows in steps.items()}
    return Recomputation(annotations=annotations, initial_state=initial, keys=keys, **by_step)


def encode(encoder: Weights, source_ids: Sequence[int]) -> Array:
    """h_j = [forward h_j ; backward h_j], (Tx, 2n)."""
    words = encoder["embedding.weight"][list(source_ids)]
    forward, backward = below(encoder, "gru."), {}
    for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
        backward[name] = forward[f"{name}_reverse"]
    return np.concatenate([_run_gru(forward, words), _run_gru(backward, words[::-1])[::-1]], axis=1)


def deviations(trace: Trace, recomputed: Recomputation) -> dict[str, float]:
    """Return, for each quantity of `trace`, the largest difference to `recomputed` over the largest number in it.

    Infinite where the two disagree about which energies are -inf.
    """
    top = np.take_along_axis(recomputed.probabilities, trace.top_ids.astype(np.int64), axis=1)
    chosen = np.log(recomputed.probabilities[np.arange(len(trace.target_ids)), list(trace.target_ids)])
    pairs = {"top_probabilities": top, "log_probabilities": chosen}
    for name in Recomputation.__dataclass_fields__:
        if name not in ("logits", "probabilities"):
            pairs[name] = getattr(recomputed, name)
    return {name: _deviation(getattr(trace, name), expected) for name, expected in pairs.items()}


def decode_step(
    decoder: Weights, config: Mapping[str, Any], annotations: Array, keys: Array, state: Array, word: Array
) -> dict[str, Array]:
    """Return one step of the decoder, from s_{i-1} (n,) and E y_{i-1} (m,), as arrays named like those of a trace.

    `decoder` holds the decoder's weights, named without "decoder.".
    """
    query, energies = _energies(decoder, config["attention"], keys, state)
    alignment = _softmax(energies)
    context = alignment @ annotations
    if config["attention"] == "none":
        context = context[: len(state)]
    following, reset, update, candidate = _gru(
        decoder["gru.weight_ih"], decoder["gru.weight_hh"], decoder["gru.bias_ih"], decoder["gru.bias_hh"],
        np.concatenate([word, context]), state,
    )  # fmt: skip
    seen = following if config["readout_state"] == "current" else state
    readout = _maxout(
        decoder["readout_state.weight"] @ seen
        + decoder["readout_state.bias"]
        + decoder["readout_word.weight"] @ word
        + decoder["readout_context.weight"] @ context
    )
    logits = decoder["output.weight"] @ readout + decoder["output.bias"]
    return {
        "queries": query, "energies": energies, "alignment": alignment, "contexts": context, "states": following,
        "reset_gates": reset, "update_gates": update, "candidates": candidate, "readouts": readout, "logits": logits,
        "probabilities": _softmax(logits),
    }  # fmt: skip


def project_keys(decoder: Weights, annotations: Array, attention: str) -> Array:
    """U_a h_j (Tx, n'), or P h_j (Tx, n), or (Tx, 0)."""
    if attention == "none":
        return annotations[:, :0]
    return annotations @ decoder["attention.key.weight"].T


def _energies(decoder: Weights, attention: str, keys: Array, state: Array) -> tuple[Array, Array]:
    """Return the query and e_i (Tx,)."""
    if attention == "additive":
        query = decoder["attention.query.weight"] @ state
        return query, np.tanh(query + keys) @ decoder["attention.score"]
    if attention == "dot":
        return state, keys @ state
    energies = np.full(len(keys), -np.inf)
    energies[-1] = 0
    return state[:0], energies


def _run_gru(weights: Weights, inputs: Array) -> Array:
    """States (T, n) of a GRU over `inputs` (T, m), from a state of zeros."""
    state = np.zeros(weights["weight_hh_l0"].shape[1])
    states = []
    for given in inputs:
        state, *_ = _gru(
            weights["weight_ih_l0"], weights["weight_hh_l0"], weights["bias_ih_l0"], weights["bias_hh_l0"], given, state
        )
        states.append(state)
    return np.stack(states)


def _gru(
    weight_ih: Array, weight_hh: Array, bias_ih: Array, bias_hh: Array, given: Array, state: Array
) -> tuple[Array, Array, Array, Array]:
    """Return s' = (1 - z) * candidate + z * s, then r, z and the candidate, each (n,)."""
    x_r, x_z, x_n = np.split(weight_ih @ given + bias_ih, 3)
    u_r, u_z, u_n = np.split(weight_hh @ state + bias_hh, 3)
    reset, update = _sigmoid(x_r + u_r), _sigmoid(x_z + u_z)
    candidate = np.tanh(x_n + reset * u_n)
    return (1 - update) * candidate + update * state, reset, update, candidate


def _maxout(wide: Array) -> Array:
    """The larger of each pair of neighbours: (2l,) to (l,)."""
    return np.maximum(wide[0::2], wide[1::2])


def _sigmoid(values: Array) -> Array:
    # Through tanh, which overflows for no argument.
    return 0.5 * (1 + np.tanh(0.5 * values))


def _softmax(energies: Array) -> Array:
    powers = np.exp(energies - energies.max())
    shares: Array = powers / powers.sum()
    return shares


def below(weights: Weights, prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose name begins with `prefix`, under the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}


def _deviation(values: NDArray[Any], expected: Array) -> float:
    if values.shape != expected.shape or not np.array_equal(np.isfinite(values), np.isfinite(expected)):
        return float("inf")
    finite = np.isfinite(expected)
    if not finite.any():
        return 0.0
    scale = max(float(np.abs(expected[finite]).max()), float(np.finfo(np.float32).tiny))
    return float(np.abs(values[finite] - expected[finite]).max()) / scale
