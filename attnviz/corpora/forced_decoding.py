"""Forced decoding of a batch of pairs, with the numbers of every step that the measures need.

Symbols and sizes are those of `trace.quantities`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attnviz.decoding import batches, largest, padded
from attnviz.network import Network, RNNsearch
from attnviz.network.stepping import StepDecoder
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
