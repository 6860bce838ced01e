"""The readout before its maxout, which a trace does not keep: the pairs of which the larger goes on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.recomputation import Weights
from attnviz.trace import Trace


def pairs(trace: Trace, weights: Weights, step: int) -> NDArray[np.float32]:
    """Return t~_i = U_o s + V_o E y_{i-1} + C_o c_i + b of 0-based `step`, (2l,); s is s_{i-1} or, by config, s_i.

    Units 2k and 2k + 1 are a pair, and the larger of the two is t_i's unit k. `weights` are the arrays of the model
    that made the trace (`load_weights`).
    """
    state = trace.states[step] if trace.config["readout_state"] == "current" else trace.previous_states[step]
    word = weights["decoder.embedding.weight"][trace.previous_ids[step]]

    def exact(name: str) -> NDArray[np.float64]:
        # A model may be saved in half precision, which is too coarse to add up in.
        return np.asarray(weights[f"decoder.readout_{name}"], dtype=np.float64)

    wide = (
        exact("state.weight") @ state
        + exact("word.weight") @ word
        + exact("context.weight") @ trace.contexts[step]
        + exact("state.bias")
    )
    return np.asarray(wide, dtype=np.float32)
