"""`Readouts`: output probabilities of all steps with other context vectors, and gradients by attention weights.

All is in NumPy. The rest of each step stays unchanged. A context enters the readout, and with
`readout_state="current"` the state before it, through matrix products, which are linear: mixtures of annotations are
projected by mixing the projections. `fit` returns how far each annotation supports the written piece.

Most time goes into the sum over the vocabulary that normalises a probability. Only its terms are float32, which halves
the time: the logarithm of the sum is correct to about 1e-6, and it cancels in rows of shares.

Symbols and sizes are those of `trace.trace`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.recomputation import Weights, log_softmax, maxout, maxout_winners, sigmoid
from attnviz.analysis.weight_shapes import check_fit
from attnviz.arguments import check_each
from attnviz.errors import user_error
from attnviz.installed_models import installed_weights
from attnviz.languages import gettext
from attnviz.trace import Array, FloatArray, Floating, Record, Trace, float64

_BLOCK = 10_000_000
"""Number of logits computed at once: 40 MB."""


class Readouts:
    """The steps of a translation, prepared for other contexts."""

    def __init__(self, trace: Trace, weights: Weights | None = None) -> None:
        """Project everything that does not depend on the context; `weights` are those of the model that made `trace`.

        Without them, those of the installed model that made it are loaded.

        Raise AttnvizError where the model has no attention or is not an RNNsearch model, or where the weights are
        another model's.
        """
        check_each(gettext("translations"), (trace,), (Record,))
        if not trace.attends:
            raise user_error(
                "This model has no attention: it writes all its words from one context vector. So there are no "
                "energies, no attention weights and no posterior attention."
            )
        if not trace.attends_once:
            raise user_error(
                "Posterior attention needs an RNNsearch model; “{model}” is a transformer, or was imported from "
                "another toolkit.",
                model=trace.model,
            )
        weights = installed_weights(trace.model, trace.weights_digest) if weights is None else weights
        check_each(gettext("model weights"), (weights,), (Mapping,))
        check_fit(trace, weights)
        self.trace, self._weights = trace, weights
        self.current = trace.reads_new_state
        self.alignment = float64(trace.alignment)
        """alpha after interventions, (Ty, Tx)."""
        annotations, states = float64(trace.annotations), float64(trace.previous_states)
        words = float64(weights["decoder.embedding.weight"][list(trace.previous_ids)])
        self._annotation_terms = annotations @ self._decoder_weight("readout_context.weight").T
        self._fixed_terms = words @ self._decoder_weight("readout_word.weight").T + self._decoder_weight(
            "readout_state.bias"
        )
        if self.current:
            inputs, m = self._decoder_weight("gru.weight_ih"), words.shape[1]
            self._annotation_gate_terms = annotations @ inputs[:, m:].T
            self._word_gate_terms = words @ inputs[:, :m].T + self._decoder_weight("gru.bias_ih")
            self._state_gate_terms = states @ self._decoder_weight("gru.weight_hh").T + self._decoder_weight(
                "gru.bias_hh"
            )
            self._states, self._state_weight = states, self._decoder_weight("readout_state.weight")
        else:
            self._fixed_terms += states @ self._decoder_weight("readout_state.weight").T
        self._output, self._bias = self._decoder_weight("output.weight"), self._decoder_weight("output.bias")
        self._output32, self._bias32 = self._output.astype(np.float32), self._bias.astype(np.float32)
        self._target_ids = np.array(trace.target_ids)

    def _decoder_weight(self, name: str) -> Array:
        return float64(self._weights[f"decoder.{name}"])

    @cached_property
    def alone(self) -> Array:
        """Log p(y_i | s_{i-1}, y_{i-1}, c = h_j) of every step and annotation, (Ty, Tx)."""
        return self.log_likelihood()

    def log_likelihood(self, mixtures: Array | None = None, steps: slice = slice(None)) -> Array:
        """Return log p(y_i | s_{i-1}, y_{i-1}, c), (S, C), of these steps.

        The contexts are c = h_j, or c = sum_k mixtures[i, j, k] h_k for `mixtures` (S, C, Tx).
        """
        chosen = range(len(self._target_ids))[steps]
        count = self._annotation_terms.shape[0] if mixtures is None else mixtures.shape[1]
        result = np.empty((len(chosen), count))
        for block in self.blocks(count, len(chosen)):
            trace_steps = slice(chosen.start + block.start, min(chosen.start + block.stop, chosen.stop))
            readouts = maxout(self.maxout_inputs(trace_steps, None if mixtures is None else mixtures[block]))
            pieces = self._target_ids[trace_steps]
            logits = np.einsum("scl,sl->sc", readouts, self._output[pieces]) + self._bias[pieces, None]
            result[block] = logits - self._log_sum(readouts)
        return result

    def _log_sum(self, readouts: Array) -> Array:
        """Return log sum_w exp(W_o[w] . t + b_o[w]) of readouts (S, C, l), (S, C)."""
        logits = self._float32_logits(readouts)
        largest = logits.max(axis=1, keepdims=True)
        logits -= largest
        total: Array = np.log(np.exp(logits, out=logits).sum(axis=1, dtype=np.float64)) + largest[:, 0]
        return total.reshape(readouts.shape[:2])

    def rough_logits(self, steps: slice, mixtures: Array | None = None) -> FloatArray:
        """Return the float32 logits of these steps with each context, (S, C, K), correct to about 1e-6 of the largest.

        `mixtures` (S, C, Tx) as for `log_likelihood`.
        """
        readouts = maxout(self.maxout_inputs(steps, mixtures))
        return self._float32_logits(readouts).reshape(*readouts.shape[:2], -1)

    def rough_probabilities(self, steps: slice, mixtures: Array) -> FloatArray:
        """Return p(w) of these steps with each context, (S, C, K), the softmax of `rough_logits`."""
        powers = self.rough_logits(steps, mixtures)
        powers -= powers.max(axis=2, keepdims=True)
        np.exp(powers, out=powers)
        powers /= powers.sum(axis=2, keepdims=True)
        return powers

    def log_probabilities(self, step: int, mixtures: Array) -> Array:
        """Return log p(w), (C, K), of one 0-based step for each of the contexts `mixtures` (C, Tx)."""
        readouts = maxout(self.maxout_inputs(slice(step, step + 1), mixtures[None]))[0]
        return log_softmax(readouts @ self._output.T + self._bias)

    def readout_gradients(self, logit_gradients: Floating) -> Array:
        """Return W_o^T g: gradients by the logits (..., K) as gradients by the readouts (..., l)."""
        return float64(logit_gradients @ (self._output32 if logit_gradients.dtype == np.float32 else self._output))

    def output_rows(self, pieces: NDArray[np.integer]) -> Array:
        """Return W_o[w] of these ids, of any shape: (..., l)."""
        return self._output[pieces]

    def gradient(self, steps: slice, mixtures: Array, readout_gradients: Array) -> Array:
        """Return the gradients by the `mixtures` (S, C, Tx) of these steps, given those by the readouts t_i, (S, C, l).

        They pass through the maxout's winners and, with `readout_state="current"`, through s_i as well. At a tie, where
        a maxout has no gradient, the first of the pair counts.
        """
        wide = self.maxout_inputs(steps, mixtures)
        first_wins = wide[..., 0::2] >= wide[..., 1::2]
        wide_gradients = np.empty(wide.shape)
        wide_gradients[..., 0::2], wide_gradients[..., 1::2] = (
            readout_gradients * first_wins,
            readout_gradients * ~first_wins,
        )
        gradients: Array = wide_gradients @ self._annotation_terms.T
        if self.current:
            gradients += (
                self._gate_gradients(steps, mixtures, wide_gradients @ self._state_weight)
                @ self._annotation_gate_terms.T
            )
        return gradients

    def maxout_inputs(self, steps: slice, mixtures: Array | None = None) -> Array:
        """Return t~_i for each context of these steps, (S, C, 2l), `mixtures` (S, C, Tx) as for `log_likelihood`."""
        context = self._mix(self._annotation_terms, mixtures)
        wide: Array = self._fixed_terms[steps, None] + context
        if self.current:
            wide += self._new_states(steps, mixtures) @ self._state_weight.T
        return wide

    def fit(self, centred: bool = True) -> Array:
        """Return how far h_j supports y_i, (Ty, Tx): the logit of y_i that C_o h_j adds with weight 1.

        It passes through the step's maxout winners. If `centred`, the mean over the vocabulary is subtracted.
        """
        pairs = self.maxout_inputs(slice(None), self.alignment[:, None])[:, 0]
        rows = self._output[self._target_ids] - (self._output.mean(axis=0) if centred else 0)
        return np.einsum("il,jil->ij", rows, self._annotation_terms[:, maxout_winners(pairs)], optimize=True)

    def _new_states(self, steps: slice, mixtures: Array | None) -> Array:
        """Return s_i for each context, (S, C, n)."""
        _, update, candidate = self._gate_values(steps, mixtures)
        return (1 - update) * candidate + update * self._states[steps, None]

    def _gate_values(self, steps: slice, mixtures: Array | None) -> tuple[Array, Array, Array]:
        """Return r_i, z_i and the candidate for each context, (S, C, n) each."""
        x_r, x_z, x_n = np.split(
            self._word_gate_terms[steps, None] + self._mix(self._annotation_gate_terms, mixtures), 3, axis=-1
        )
        u_r, u_z, u_n = np.split(self._state_gate_terms[steps, None], 3, axis=-1)
        reset, update = sigmoid(x_r + u_r), sigmoid(x_z + u_z)
        return reset, update, np.tanh(x_n + reset * u_n)

    def _gate_gradients(self, steps: slice, mixtures: Array, state_gradients: Array) -> Array:
        """Return the gradients by the inputs of r, z and the candidate, (S, C, 3n), given those by s_i, (S, C, n)."""
        reset, update, candidate = self._gate_values(steps, mixtures)
        candidate_gradients = state_gradients * (1 - update) * (1 - candidate**2)
        reset_gradients = (
            candidate_gradients * self._state_gate_terms[steps, None, -reset.shape[-1] :] * reset * (1 - reset)
        )
        update_gradients = state_gradients * (self._states[steps, None] - candidate) * update * (1 - update)
        return np.concatenate([reset_gradients, update_gradients, candidate_gradients], axis=-1)

    def _float32_logits(self, readouts: Array) -> FloatArray:
        """Return the float32 logits of readouts (S, C, l), flattened to (S C, K)."""
        logits: FloatArray = readouts.reshape(-1, readouts.shape[-1]).astype(np.float32) @ self._output32.T
        logits += self._bias32
        return logits

    @staticmethod
    def _mix(projected: Array, mixtures: Array | None) -> Array:
        return projected[None] if mixtures is None else mixtures @ projected

    def blocks(self, contexts: int, steps: int | None = None) -> Iterator[slice]:
        """Yield slices of `steps` (or all steps) whose logits with this number of contexts fit in memory."""
        size = max(1, _BLOCK // (contexts * len(self._bias)))
        for start in range(0, len(self._target_ids) if steps is None else steps, size):
            yield slice(start, start + size)
