"""The readout of steps before its maxout, as a sum of terms; recomputed, because a trace does not store it.

Symbols and sizes are those of `trace.quantities`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.recomputation import Weights
from attnviz.trace import Trace

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Readout:
    """t~_i of S steps as a sum of contributions, in float64.

    Units 2k and 2k + 1 are a pair; the larger of both is unit k of t_i.
    """

    state: Array
    """Contribution of the state, U_o s, (S, 2l); s is s_{i-1} or, by config, s_i."""
    previous_word: Array
    """Contribution of the previous word, V_o E y_{i-1}, (S, 2l)."""
    context: Array
    """Contribution of the context, C_o c_i, (S, 2l)."""
    bias: Array
    """Bias b, (2l,)."""

    @property
    def pairs(self) -> Array:
        """The sum of all contributions, t~_i, (S, 2l)."""
        return self.state + self.previous_word + self.context + self.bias

    @property
    def winners(self) -> NDArray[np.intp]:
        """The unit that wins each pair, (S, l)."""
        pairs = self.pairs
        return np.asarray(np.arange(0, pairs.shape[1], 2) + pairs.reshape(len(pairs), -1, 2).argmax(axis=2))


def readout(trace: Trace, weights: Weights, steps: Sequence[int]) -> Readout:
    """Return the readout of these 0-based `steps`, multiplied out together.

    `weights` are those of the model that made the trace (`load_weights`).
    """
    current, step_indices = trace.config["readout_state"] == "current", np.array(steps, dtype=np.intp)

    def float64_weight(name: str) -> Array:
        # Models may be saved in half precision, which is too coarse for sums.
        return np.asarray(weights[f"decoder.{name}"], dtype=np.float64)

    def term(name: str, inputs: NDArray[np.floating]) -> Array:
        return np.asarray(inputs, dtype=np.float64) @ float64_weight(f"readout_{name}.weight").T

    words = weights["decoder.embedding.weight"][[trace.previous_ids[step] for step in steps]]
    return Readout(
        term("state", (trace.states if current else trace.previous_states)[step_indices]),
        term("word", words),
        term("context", trace.contexts[step_indices]),
        float64_weight("readout_state.bias"),
    )


def pairs(trace: Trace, weights: Weights, step: int) -> NDArray[np.float32]:
    """Return t~_i = U_o s + V_o E y_{i-1} + C_o c_i + b of 0-based `step`, (2l,)."""
    return np.asarray(readout(trace, weights, [step]).pairs[0], dtype=np.float32)
