"""Posterior attention of a batch of pairs, as `analysis.posterior` defines it, in a fortieth of its time.

Slight shares are estimated. Most of the time goes into sum_w exp(logit_w), the normaliser of each likelihood, for every
step and annotation. So a lower bound of it is computed first, over the pieces of this target and those that were likely
at its steps: it bounds each share from above. Where a share might matter, the other pieces are added, whose logits are
of 8 bits where the processor has instructions for them; elsewhere the log likelihood is its bound minus the mean gap of
the bounds.

Symbols and sizes are those of `trace.trace`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import linear

from attnviz.analysis.posterior import PosteriorKind, bayes
from attnviz.evaluation.forced import LOGITS, DecodedBatch, EncodedPair, Steps
from attnviz.network.output import OutputLayer
from attnviz.network.recurrence import gru_step
from attnviz.trace import Array
from attnviz.translator import Translator

SLIGHT = 0.01
"""Share, relative to the largest of its row, below which a cell's likelihood is estimated."""
_FACTORS: dict[PosteriorKind, tuple[float, float]] = {"balanced": (0.75, 0.25), "posterior": (1, 0)}
"""Factors of log (alpha p) and of the fit in the score of each kind."""


class BatchPosterior:
    """Posterior attention for a translator; it has no state between batches."""

    def __init__(self, translator: Translator[Any], kind: PosteriorKind) -> None:
        """Take a translator with one attention distribution a step."""
        network: Any = translator.network
        self._output: OutputLayer = translator.prepared.decoder.output
        self._mean_output_row: Tensor = self._output.weight.mean(0)
        self._by_state: tuple[Tensor, Tensor] = tuple(
            part.detach() for part in network.decoder.readout_state.parameters()
        )
        self._kind = kind

    @torch.inference_mode()
    def __call__(self, decoded: DecodedBatch, pairs: Sequence[EncodedPair]) -> list[Array]:
        """Return the posterior attention of each pair, (Ty, Tx) each; rows sum to 1.

        Raise ValueError where `decoded` is of an architecture without it.
        """
        if decoded.steps is None:
            raise ValueError("a step of this network has more than one look")
        return [self._posterior(decoded, decoded.steps, row, pair) for row, pair in enumerate(pairs)]

    def _posterior(self, decoded: DecodedBatch, steps: Steps, row: int, pair: EncodedPair) -> Array:
        ids, rows, columns = pair.target, len(pair.target), len(pair.source)
        maxout_inputs = steps.rest[row, :rows, None] + steps.by_context[row, None, :columns]
        weights = torch.from_numpy(decoded.alignment[row, :rows, :columns]).to(maxout_inputs)
        if steps.into_gates is not None:
            maxout_inputs = maxout_inputs + linear(_new_states(steps, row, rows, columns), *self._by_state)
        target_ids = torch.tensor(ids, device=maxout_inputs.device)
        alignment, fits = _float64(weights), self._fits(steps, row, weights, target_ids)
        readouts = torch.maximum(maxout_inputs[..., ::2], maxout_inputs[..., 1::2]).flatten(0, 1)
        weight, bias = self._output.weight, self._output.bias
        logits = (readouts.view(rows, columns, -1) @ weight[target_ids][..., None])[..., 0] + bias[target_ids][:, None]
        likely = torch.from_numpy(np.unique(np.concatenate([ids, decoded.likeliest[row, :rows].ravel()])))
        likely = likely.to(readouts.device)
        sums = linear(readouts, weight[likely], bias[likely]).logsumexp(1)
        alone = _float64(logits - sums.view_as(logits))  # an upper bound
        decisive = self._decisive(alignment, alone, fits)
        cells = torch.from_numpy(decisive.ravel()).to(readouts.device)
        exact = _float64(logits.flatten()[cells] - self._log_sum(readouts[cells], likely, sums[cells]))
        excess = (alone[decisive] - exact)[exact < np.log(0.5)]
        alone -= excess.mean() if len(excess) else 0
        alone[decisive] = exact
        return bayes(alignment, np.minimum(alone, 0), fits if self._kind == "balanced" else None)

    def _fits(self, steps: Steps, row: int, alignment: Tensor, target_ids: Tensor) -> Array:
        """Return how far h_j supports y_i, (Ty, Tx), as `analysis.likelihood.Readouts.fit` does."""
        pairs = self._maxout_inputs_of_steps(steps, row, alignment).unflatten(-1, (-1, 2))
        # C_o h_j at the winner of each pair: the rows of W_o are scattered to the winners' positions.
        output_rows = (self._output.weight[target_ids] - self._mean_output_row)[..., None]
        scattered_rows = torch.zeros_like(pairs).scatter_(-1, pairs.argmax(-1, keepdim=True), output_rows).flatten(1)
        return _float64(scattered_rows @ steps.by_context[row, : alignment.shape[1]].t())

    def _maxout_inputs_of_steps(self, steps: Steps, row: int, alignment: Tensor) -> Tensor:
        """Return t~_i of the step itself, (Ty, 2l), given alpha (Ty, Tx)."""
        rows, columns = alignment.shape
        wide = steps.rest[row, :rows] + alignment @ steps.by_context[row, :columns]
        if steps.into_gates is not None:
            gate_inputs = steps.by_word[row, :rows] + alignment @ steps.into_gates[row, :columns]
            new_states = gru_step(gate_inputs, steps.recurrent[row, :rows], steps.states[row, :rows])
            wide = wide + linear(new_states, *self._by_state)
        return wide

    def _decisive(self, alignment: Array, bound: Array, fits: Array) -> NDArray[np.bool_]:
        """Return which cells may have more than a share SLIGHT of their row."""
        factor_of_posterior, factor_of_fit = _FACTORS[self._kind]
        with np.errstate(divide="ignore"):
            scores = factor_of_posterior * (np.log(alignment) + bound) + factor_of_fit * fits
        # Relative to the largest bound instead of the largest share: the bound exceeds it by less than 1 at most.
        decisive: NDArray[np.bool_] = scores >= scores.max(1, keepdims=True) + np.log(SLIGHT)
        return decisive

    def _log_sum(self, readouts: Tensor, likely: Tensor, sums: Tensor) -> Tensor:
        """Return log sum_w exp(W_o[w] . t + b_o[w]) of readouts (R, l): (R,).

        `sums` (R,) are those over the ids `likely` alone; the other logits are coarse.
        """
        coarse, logs, at_once = self._output.coarse, [sums[:0]], max(1, LOGITS // len(self._output.bias))
        for part, sums_of_part in zip(readouts.split(at_once), sums.split(at_once), strict=True):
            logits = self._output.logits(part) if coarse is None else coarse(part, torch.bfloat16)[0]
            logits[:, likely] = float("-inf")
            others = logits.exp().sum(1).float().log_()
            if not others.isfinite().all():  # the exponential overflows, or there are no others
                others = logits.float().logsumexp(1)
            logs.append(torch.logaddexp(sums_of_part, others))
        return torch.cat(logs)


def _new_states(steps: Steps, row: int, rows: int, columns: int) -> Tensor:
    """Return s_i with h_j as its context, (Ty, Tx, n)."""
    assert steps.into_gates is not None
    gate_inputs = steps.by_word[row, :rows, None] + steps.into_gates[row, None, :columns]
    recurrent = steps.recurrent[row, :rows, None].expand_as(gate_inputs)
    states = steps.states[row, :rows, None].expand(-1, columns, -1)
    new_states = gru_step(gate_inputs.flatten(0, 1), recurrent.flatten(0, 1), states.flatten(0, 1))
    return new_states.view(rows, columns, -1)


def _float64(values: Tensor) -> Array:
    exact: Array = values.cpu().numpy().astype(np.float64)
    return exact
