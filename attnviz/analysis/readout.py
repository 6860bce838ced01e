"""The readout before its maxout, which a trace does not keep: the pairs of which the larger goes on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.recomputation import Weights
from attnviz.trace import Trace


def pairs(trace: Trace, weights: Weights) -> NDArray[np.float32]:
    """Return t~_i = U_o s + V_o E y_{i-1} + C_o c_i + b of every step, (Ty, 2l); s is s_{i-1} or, by config, s_i.

    Units 2k and 2k + 1 are a pair, and the larger of the two is t_i's unit k. `weights` are the arrays of the model
    that made the trace (`load_weights`).
    """
    state = trace.states if trace.config["readout_state"] == "current" else trace.previous_states
    words = weights["decoder.embedding.weight"][list(trace.previous_ids)]
    wide = (
        state @ weights["decoder.readout_state.weight"].T
        + words @ weights["decoder.readout_word.weight"].T
        + trace.contexts @ weights["decoder.readout_context.weight"].T
        + weights["decoder.readout_state.bias"]
    )
    return np.asarray(wide, dtype=np.float32)
