"""Forced decoding of a batch of pairs with the numbers that the measures need, and their posterior attention.

Symbols and sizes are those of `trace.trace`.

Posterior attention is as in `analysis.posterior`, in a fortieth of its time; slight shares are estimated. Most of the
time goes into sum_w exp(logit_w), the normaliser of each likelihood, for every step and annotation. So a lower bound of
it is computed first, over the pieces of this target and those that were likely at its steps: it bounds each share from
above. Where a share might matter, the whole sum is computed; elsewhere the log likelihood is its bound minus the mean
gap of the bounds. Products use bfloat16 where the processor has instructions for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import linear

from attnviz.analysis.posterior import Kind, posterior_of
from attnviz.decoding import batches, largest, padded
from attnviz.network import Network, RNNsearch
from attnviz.network.output import OutputLayer
from attnviz.network.recurrence import gru_step
from attnviz.network.rnnsearch import StepDecoder
from attnviz.text import BOS, PAD
from attnviz.translator import Translator

LIKELIEST = 8
"""Pieces of each step whose ids are stored: with the written ones, they bound the normaliser of a probability."""
LOGITS = 1 << 22
"""Number of logits computed at once: 16 MB in single precision, or 262 readouts at a vocabulary of 16,000."""

Ids = list[list[int]]


_MOST_PIECES, _MOST_CELLS = 2000, 20_000
"""Target pieces of a batch, and pairs of a target and a source piece, padding included: 20 MB of readouts."""


def pair_batches(sources: Sequence[int], targets: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Yield the indices of at most `batch_size` pairs of each batch, given the lengths of both sides in pieces."""
    for indices in batches(targets, _MOST_PIECES):
        cells = max(targets[index] for index in indices) * max(sources[index] for index in indices)
        size = max(1, min(batch_size, _MOST_CELLS // cells))
        for start in range(0, len(indices), size):
            yield indices[start : start + size]


@dataclass(frozen=True)
class Steps:
    """Terms of the readouts of S pairs, padded; a context enters a readout linearly."""

    rest: Tensor
    """U_o s_{i-1} + b + V_o E y_{i-1}, (S, Ty, 2l); with `readout_state="current"` V_o E y_{i-1} alone."""
    by_context: Tensor
    """C_o h_j, (S, Tx, 2l)."""
    states: Tensor
    """s_{i-1}, (S, Ty, n)."""
    recurrent: Tensor
    """U s_{i-1} + b of the gates, (S, Ty, 3n)."""
    by_word: Tensor
    """W E y_{i-1} + b of the gates, (S, Ty, 3n)."""
    into_gates: Tensor | None
    """C h_j of the gates, (S, Tx, 3n), where the readout sees s_i; None where it does not."""
    annotations: Tensor
    """Terms of the contexts: h_j, (S, Tx, 2n), or without attention its forward half."""
    last: Tensor
    """s_Ty, (S, 1, n), which `states` lacks."""


@dataclass(frozen=True)
class DecodedBatch:
    """S pairs under forced decoding."""

    alignment: NDArray[np.float32]
    """alpha, (S, Ty, Tx), padded."""
    log_probabilities: NDArray[np.float32]
    """Log p(y_i), (S, Ty); 0 at padding."""
    likeliest: NDArray[np.int64]
    """Ids of the likeliest pieces at each step, (S, Ty, 8); 0 at padding."""
    steps: Steps | None
    """None where a step does not have exactly one context."""


@torch.inference_mode()
def force_decode(translator: Translator[Any], sources: Ids, targets: Ids) -> DecodedBatch:
    """Force the decoder to write each of the S `targets` for its source; both have EOS last."""
    device = translator.device
    lengths = torch.tensor([len(source) for source in sources], device=device)
    source, target = padded(sources).to(device), padded(targets).to(device)
    previous = target.roll(1, dims=1)
    previous[:, 0] = BOS
    network: Network = translator.network
    steps = None
    if isinstance(network, RNNsearch):
        readouts, alignment, steps = _stepwise(translator, source, lengths, previous)
    else:
        readouts, alignment = network(source, lengths, previous)
    chosen, likeliest = _target_logs_and_likeliest(translator, readouts, target)
    return DecodedBatch(alignment.float().cpu().numpy(), chosen.cpu().numpy(), likeliest.cpu().numpy(), steps)


def _stepwise(
    translator: Translator[Any], source: Tensor, lengths: Tensor, previous: Tensor
) -> tuple[Tensor, Tensor, Steps]:
    """Return readouts (S, Ty, l), alignment (S, Ty, Tx) and the steps, computed by the faster `StepDecoder`."""
    prepared: Any = translator.prepared
    decoder: StepDecoder = prepared.decoder
    memory = prepared.memory(source, lengths)
    state = decoder.start(memory)
    # Few pieces occur in a batch: a table of all would take more memory than the model.
    words = decoder.words_of(previous)
    states, products, readouts, alignment = [], [], [], []
    for i, ids in enumerate(previous.unbind(1)):
        states.append(state.state)
        products.append(state.products)
        step, state = decoder.step(memory, state, ids[:, None], words=words[:, i : i + 1])
        readouts.append(step.readout)
        alignment.append(step.alignment)
    product, gates = torch.cat(products, 1), decoder.gates
    rest = words[..., gates:].clone()
    current = decoder.config.readout_state == "current"
    if not current:
        rest += product[..., gates + decoder.query_size :]
    annotations = memory.annotations[..., : decoder.attention.context_size]
    # If the readout does not use s_i, three quarters of the context's products are not needed again.
    added = (decoder.values if current else decoder.into_readout)(annotations.flatten(0, 1)).unflatten(
        0, annotations.shape[:2]
    )
    steps = Steps(
        rest,
        added[..., gates:] if current else added,
        torch.cat(states, 1),
        product[..., :gates],
        words[..., :gates],
        added[..., :gates] if current else None,
        annotations,
        state.state,
    )
    return torch.cat(readouts, 1), torch.cat(alignment, 1), steps


def _target_logs_and_likeliest(translator: Translator[Any], readouts: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return log p of each piece of the targets (S, Ty), and the ids of the likeliest, (S, Ty, 8); 0 at padding."""
    output = translator.prepared.decoder.output
    is_piece = target != PAD
    rows, ids = readouts[is_piece], target[is_piece]
    count = min(LIKELIEST, translator.network.config.vocabulary_size)
    log_probabilities = torch.zeros(target.shape, device=target.device)
    likeliest = torch.zeros((*target.shape, count), dtype=torch.long, device=target.device)
    chosen_logs, best, rows_at_once = [], [], max(1, LOGITS // translator.network.config.vocabulary_size)
    for part, chosen in zip(rows.split(rows_at_once), ids.split(rows_at_once), strict=True):
        logits = output.logits(part)
        chosen_logs.append(logits.gather(1, chosen[:, None])[:, 0] - logits.logsumexp(1))
        best.append(largest(logits, count)[1])
    log_probabilities[is_piece], likeliest[is_piece] = torch.cat(chosen_logs), torch.cat(best)
    return log_probabilities, likeliest


Array = NDArray[np.float64]

SLIGHT = 0.01
"""Share, relative to the largest of its row, below which a cell's likelihood is estimated."""
_FACTORS: dict[Kind, tuple[float, float]] = {"balanced": (0.75, 0.25), "posterior": (1, 0)}
"""Factors of log (alpha p) and of the fit in the score of each kind."""


@dataclass(eq=False)
class _PairInput:
    """Input of `posterior_of` for one pair, (Ty, Tx) each."""

    alignment: Array
    fits: Array
    readouts: Tensor
    """t_i with h_j as its context, (Ty Tx, l)."""
    alone: Array
    """log p(y_i | s_{i-1}, y_{i-1}, c = h_j); first an upper bound of it."""
    logits: Array
    """Logits of y_i."""
    decisive: NDArray[np.bool_]
    """Cells where the bound does not suffice."""

    def fit(self) -> Array:
        """Return how far h_j supports y_i."""
        return self.fits

    def store_exact(self, sums: Array) -> None:
        """Store the exact values from the log sums, one for each cell in `decisive`."""
        exact = self.logits[self.decisive] - sums
        excess = (self.alone[self.decisive] - exact)[exact < np.log(0.5)]
        self.alone -= excess.mean() if len(excess) else 0
        self.alone[self.decisive] = exact
        np.minimum(self.alone, 0, out=self.alone)


class BatchPosterior:
    """Posterior attention for a translator; it has no state between batches."""

    def __init__(self, translator: Translator[Any], kind: Kind) -> None:
        """Take a translator with one attention distribution a step."""
        network: Any = translator.network
        self._output: OutputLayer = translator.prepared.decoder.output
        self._mean_output_row: Tensor = self._output.weight.mean(0)
        self._by_state: tuple[Tensor, Tensor] = tuple(
            part.detach() for part in network.decoder.readout_state.parameters()
        )
        self._kind = kind

    @torch.inference_mode()
    def __call__(self, decoded: DecodedBatch, sources: Ids, targets: Ids) -> list[Array]:
        """Return the posterior attention of each pair, (Ty, Tx) each; rows sum to 1.

        Raise ValueError where `decoded` is of an architecture without it.
        """
        if decoded.steps is None:
            raise ValueError("a step of this network has more than one look")
        sizes = [(len(target), len(source)) for source, target in zip(sources, targets, strict=True)]
        inputs = [self._input_of(decoded, decoded.steps, row, targets[row], *size) for row, size in enumerate(sizes)]
        device = self._output.weight.device
        cells = [torch.from_numpy(pair.decisive.ravel()).to(device) for pair in inputs]
        sums = self._log_sum(torch.cat([pair.readouts[cell] for pair, cell in zip(inputs, cells, strict=True)]))
        ends = np.cumsum([pair.decisive.sum() for pair in inputs])[:-1]
        for pair, pair_sums in zip(inputs, np.split(_float64(sums), ends), strict=True):
            pair.store_exact(pair_sums)
        return [posterior_of(pair, self._kind) for pair in inputs]

    def _input_of(
        self, decoded: DecodedBatch, steps: Steps, row: int, ids: list[int], rows: int, columns: int
    ) -> _PairInput:
        maxout_inputs = steps.rest[row, :rows, None] + steps.by_context[row, None, :columns]
        weights = torch.from_numpy(decoded.alignment[row, :rows, :columns]).to(maxout_inputs)
        if steps.into_gates is not None:
            maxout_inputs = maxout_inputs + linear(_new_states(steps, row, rows, columns), *self._by_state)
        target_ids = torch.tensor(ids, device=maxout_inputs.device)
        alignment, fits = _float64(weights), self._fits(steps, row, weights, target_ids)
        readouts = torch.maximum(maxout_inputs[..., ::2], maxout_inputs[..., 1::2])
        weight, bias = self._output.weight, self._output.bias
        logits = (readouts @ weight[target_ids][..., None])[..., 0] + bias[target_ids][:, None]
        flat_readouts = readouts.flatten(0, 1)
        likely_ids = torch.from_numpy(np.unique(np.concatenate([ids, decoded.likeliest[row, :rows].ravel()])))
        bound = _float64(logits - self._log_sum(flat_readouts, likely_ids.to(maxout_inputs.device)).view_as(logits))
        decisive = self._decisive(alignment, bound, fits)
        return _PairInput(alignment, fits, flat_readouts, bound, _float64(logits), decisive)

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

    def _log_sum(self, readouts: Tensor, ids: Tensor | None = None) -> Tensor:
        """Return log sum_w exp(W_o[w] . t + b_o[w]) of readouts (R, l), over all pieces or these `ids`: (R,)."""
        coarse = self._output.coarse
        weight, bias = self._output.weight if coarse is None else coarse, self._output.bias
        if ids is not None:
            # torch would compile a bfloat16 product for each number of pieces.
            weight, bias = self._output.weight[ids], bias[ids]
        readouts, bias = readouts.to(weight.dtype), bias.to(weight.dtype)
        logs = []
        for part in readouts.split(max(1, LOGITS // len(bias))):
            # torch accumulates in float32 for any type; asked for a float32 sum, it would copy all terms first.
            sums = linear(part, weight, bias).exp_().sum(1).float().log_()
            # Logits rarely overflow the exponential; then compute the stable sum.
            logs.append(sums if sums.isfinite().all() else linear(part, weight, bias).float().logsumexp(1))
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
