"""One step of a translation, ready to be given other weights: what it would have thought, and how that turns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.distributions import jensen_shannon, total_variation
from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.recomputation import Weights
from attnviz.text import EOS
from attnviz.trace import Trace

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trial:
    """What one step makes of these weights, the rest of it being as it was."""

    weights: Array
    """alpha_i as tried, (Tx,)."""
    probabilities: Array
    """p(w), (K,)."""
    divergence: float
    """Jensen-Shannon divergence of the weights from those of the step, in bits, from 0 to 1."""
    total_variation: float
    """Of p(w) from that of the step, from 0 to 1."""
    likelihood: float
    """P(y_i), of the piece that the translation has."""

    @property
    def piece_id(self) -> int:
        """Id of the piece that would have been written: the likeliest of those that stand for text, or `</s>`."""
        return int(self.probabilities[EOS:].argmax()) + EOS

    def top(self, k: int = 10) -> list[tuple[int, float]]:
        """Return ids and probabilities of the `k` likeliest pieces, likeliest first."""
        order = np.argsort(-self.probabilities, kind="stable")[:k]
        return [(int(piece), float(self.probabilities[piece])) for piece in order]


class Look:
    """One step, ready for any other weights."""

    def __init__(self, trace: Trace, weights: Weights, step: int, readouts: Readouts | None = None) -> None:
        """Take 0-based `step` of `trace`; `weights` are those of its model, `readouts` what is made of both already.

        Raise AttnvizError where the model has no attention or the weights are not its own, IndexError where there is
        no such step.
        """
        self.readouts = Readouts(trace, weights) if readouts is None else readouts
        self.step = range(len(trace.target_ids))[step]
        self.chosen = trace.target_ids[self.step]
        """Id of y_i."""
        # Single precision leaves the sum a little off 1, and a comparison in double would see that.
        row = self.readouts.alignment[self.step]
        self.alignment: Array = row / row.sum()
        """alpha_i, (Tx,)."""

    @cached_property
    def probabilities(self) -> Array:
        """P(w) of the step as it was, (K,)."""
        found: Array = np.exp(self.readouts.log_probabilities(self.step, self.alignment[None])[0])
        return found

    def distributions(self, looks: Array) -> Array:
        """Return p(w) after each of the `looks` (N, Tx), (N, K)."""
        found: Array = np.exp(self.readouts.log_probabilities(self.step, looks))
        return found

    def tried(self, looks: Array) -> list[Trial]:
        """Return a trial of each of the `looks` (N, Tx), whose rows sum to 1."""
        distributions = self.distributions(looks)
        apart, varied = jensen_shannon(looks, self.alignment), total_variation(distributions, self.probabilities)
        return [
            Trial(look, p, float(bits), float(distance), float(p[self.chosen]))
            for look, p, bits, distance in zip(looks, distributions, apart, varied, strict=True)
        ]

    def slopes(self, looks: Array, of_logits: NDArray[np.floating]) -> Array:
        """Return gradients by the `looks` (N, Tx), in their shape, given those by the logits (N, K),
        of which single precision is as good as double."""
        steps = slice(self.step, self.step + 1)
        of_readouts = self.readouts.of_readouts(of_logits)
        found: Array = self.readouts.gradient(steps, looks[None], of_readouts[None])[0]
        return found

    def change(self, looks: Array) -> Array:
        """Return the total variation of p(w) after each of the `looks` (N, Tx) from that of the step, (N,): in single
        precision, right to about 1e-6, for searches; `tried` has it in double."""
        return total_variation(self._rough(looks), self._probabilities32)

    def change_and_slopes(self, looks: Array) -> tuple[Array, Array]:
        """Return what `change` returns of the `looks` (N, Tx), and its gradients by them, (N, Tx); where two
        probabilities are equal, which has none, that of no change."""
        distributions = self._rough(looks)
        apart = distributions - self._probabilities32
        signs = 0.5 * np.sign(apart)
        signs -= (distributions * signs).sum(axis=1, keepdims=True)
        change: Array = 0.5 * np.abs(apart).sum(axis=1, dtype=np.float64)
        return change, self.slopes(looks, distributions * signs)

    def _rough(self, looks: Array) -> NDArray[np.float32]:
        """P(w) after each of the `looks` (N, Tx), (N, K)."""
        powers: NDArray[np.float32] = self.readouts.rough_logits(slice(self.step, self.step + 1), looks[None])[0]
        powers -= powers.max(axis=1, keepdims=True)
        np.exp(powers, out=powers)
        powers /= powers.sum(axis=1, keepdims=True)
        return powers

    @cached_property
    def _probabilities32(self) -> NDArray[np.float32]:
        return self.probabilities.astype(np.float32)

    def log_likelihood_and_slopes(self, looks: Array, piece_id: int) -> tuple[Array, Array]:
        """Return log p of a piece after each of the `looks` (N, Tx), (N,), and its gradients by them, (N, Tx)."""
        logarithms = self.readouts.log_probabilities(self.step, looks)
        of_logits = -np.exp(logarithms)
        of_logits[:, piece_id] += 1
        return logarithms[:, piece_id], self.slopes(looks, of_logits)
