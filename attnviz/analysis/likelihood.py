"""What a step's written piece would have been worth had the decoder read other contexts: all steps and source pieces at
once, in NumPy float64 from the weights, with the rest of each step as it was.

A context enters the readout, and with `readout_state="current"` the state before it, by products. They are linear, so a
mixture of annotations is projected by mixing the projections, and no context is ever projected twice.

Nearly all the time goes into the sum over the vocabulary that a probability is divided by. Its terms alone are taken in
float32, which halves it: the logarithm of the sum is right to about 1e-6, and the sum of each row of shares cancels it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.fit import check_fit
from attnviz.analysis.recomputation import Weights
from attnviz.errors import AttnvizError
from attnviz.languages import say
from attnviz.trace import Trace

Array = NDArray[np.float64]

_BLOCK = 10_000_000
"""Logits at once: 40 MB."""


class Readouts:
    """The steps of a translation, ready to be given other contexts."""

    def __init__(self, trace: Trace, weights: Weights) -> None:
        """Project what does not depend on the context; `weights` are those of the model that made `trace`.

        Raise AttnvizError where the model has no attention, or where the weights are not its own.
        """
        if not trace.attends:
            raise AttnvizError(say("A model without attention has no posterior: there is nothing to choose from, for "
                                   "all its words are written from one context."))  # fmt: skip
        check_fit(trace, weights)
        self.trace, self._weights = trace, weights
        self.current = trace.config["readout_state"] == "current"
        self.alignment = _exact(trace.alignment)
        """alpha, as used, (Ty, Tx)."""
        annotations, states = _exact(trace.annotations), _exact(trace.previous_states)
        words = self._of("embedding.weight")[list(trace.previous_ids)]
        self._by_context = annotations @ self._of("readout_context.weight").T
        self._rest = words @ self._of("readout_word.weight").T + self._of("readout_state.bias")
        if self.current:
            inputs, m = self._of("gru.weight_ih"), words.shape[1]
            self._into_gates = annotations @ inputs[:, m:].T
            self._gates = words @ inputs[:, :m].T + self._of("gru.bias_ih")
            self._memory = states @ self._of("gru.weight_hh").T + self._of("gru.bias_hh")
            self._states, self._by_state = states, self._of("readout_state.weight")
        else:
            self._rest += states @ self._of("readout_state.weight").T
        self._output, self._bias = self._of("output.weight"), self._of("output.bias")
        self._output32, self._bias32 = self._output.astype(np.float32), self._bias.astype(np.float32)
        self._chosen = np.array(trace.target_ids)

    def _of(self, name: str) -> Array:
        return _exact(self._weights[f"decoder.{name}"])

    def log_likelihood(self, mixtures: Array | None = None) -> Array:
        """Return log p(y_i | s_{i-1}, y_{i-1}, c), (Ty, C), for c = h_j, or for c = sum_k mixtures[i, j, k] h_k where
        `mixtures` (Ty, C, Tx) are given."""
        count = self._by_context.shape[0] if mixtures is None else mixtures.shape[1]
        found = np.empty((len(self._chosen), count))
        for steps in self._blocks(count):
            readouts = self.maxout(self.wide(steps, None if mixtures is None else mixtures[steps]))
            chosen = self._chosen[steps]
            logits = np.einsum("scl,sl->sc", readouts, self._output[chosen]) + self._bias[chosen, None]
            found[steps] = logits - self._log_sum(readouts)
        return found

    def _log_sum(self, readouts: Array) -> Array:
        """Return log sum_w exp(W_o[w] . t + b_o[w]) of readouts (S, C, l), (S, C)."""
        logits = readouts.reshape(-1, readouts.shape[-1]).astype(np.float32) @ self._output32.T
        logits += self._bias32
        largest = logits.max(axis=1, keepdims=True)
        logits -= largest
        total: Array = np.log(np.exp(logits, out=logits).sum(axis=1, dtype=np.float64)) + largest[:, 0]
        summed: Array = total.reshape(readouts.shape[:2])
        return summed

    def wide(self, steps: slice, mixtures: Array | None = None) -> Array:
        """Return t~_i for each context of these steps, (S, C, 2l), `mixtures` (S, C, Tx) as for `log_likelihood`."""
        context = self._mixed(self._by_context, mixtures)
        wide: Array = self._rest[steps, None] + context
        if self.current:
            wide += self._following(steps, mixtures) @ self._by_state.T
        return wide

    def fit(self) -> Array:
        """Return how far h_j speaks for y_i, (Ty, Tx): the logit that C_o h_j would give y_i at weight 1, less the mean
        over the vocabulary, with the winners of the maxout that the step had."""
        pairs = self.wide(slice(None), self.alignment[:, None])[:, 0]
        winners = np.arange(0, pairs.shape[1], 2) + pairs.reshape(len(pairs), -1, 2).argmax(axis=2)
        rows = self._output[self._chosen] - self._output.mean(axis=0)
        fits: Array = np.einsum("il,jil->ij", rows, self._by_context[:, winners], optimize=True)
        return fits

    @staticmethod
    def maxout(wide: Array) -> Array:
        """The larger of each pair of neighbours: (..., 2l) to (..., l)."""
        return np.maximum(wide[..., 0::2], wide[..., 1::2])

    def _following(self, steps: slice, mixtures: Array | None) -> Array:
        """s_i for each context, (S, C, n)."""
        x_r, x_z, x_n = np.split(self._gates[steps, None] + self._mixed(self._into_gates, mixtures), 3, axis=-1)
        u_r, u_z, u_n = np.split(self._memory[steps, None], 3, axis=-1)
        reset, update = _sigmoid(x_r + u_r), _sigmoid(x_z + u_z)
        following: Array = (1 - update) * np.tanh(x_n + reset * u_n) + update * self._states[steps, None]
        return following

    @staticmethod
    def _mixed(projected: Array, mixtures: Array | None) -> Array:
        return projected[None] if mixtures is None else mixtures @ projected

    def _blocks(self, contexts: int) -> Iterator[slice]:
        size = max(1, _BLOCK // (contexts * len(self._bias)))
        for start in range(0, len(self._chosen), size):
            yield slice(start, start + size)


def _exact(values: NDArray[Any]) -> Array:
    return np.asarray(values, dtype=np.float64)


def _sigmoid(values: Array) -> Array:
    # Through tanh, which overflows for no argument.
    return 0.5 * (1 + np.tanh(0.5 * values))
