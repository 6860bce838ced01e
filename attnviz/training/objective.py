"""The training objective: label-smoothed cross-entropy, and guided alignment with links learnt from the pairs.

The logits of a whole batch would be by far the largest tensor. They are computed for some positions at a time: each
chunk's loss and gradient are computed together, and its logits discarded.

The links come from two word-translation models, one in each direction, that are trained to agree (Liang, Taskar & Klein
2006): IBM Model 1 with a preference for the diagonal (Dyer, Chahuneau & Smith 2013). Both follow from one table of
joint counts, which is all that is stored.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from tqdm import tqdm

from attnviz.errors import AttnvizError
from attnviz.files import DAMAGED, replacing
from attnviz.network import Trainable
from attnviz.text import PAD
from attnviz.training.encoded_pairs import Batch, Corpus, epoch_batches, make_batch

_CHUNK, _GPU_CHUNK = 512, 16_384
"""Positions whose logits are computed together: few enough for a processor's cache, enough to occupy a GPU."""
_TILE = 32
_LEAST_WEIGHT = 1e-9
"""Lower bound on weights inside a logarithm, which keeps it finite."""


class SmoothedCrossEntropy(torch.autograd.Function):
    """Sum over positions of -(1 - e) log p_y - (e / K) sum_k log p_k, with e the smoothing (Szegedy et al. 2016)."""

    @staticmethod
    def forward(
        ctx: Any, readouts: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        """Return the smoothed loss and the plain negative log likelihood, both summed over the N positions.

        `readouts` (N, l), `weight` (K, l), `bias` (K,), `targets` (N,). Products run in the dtype of `readouts`. The
        smoothing term needs no pass over the vocabulary: the mean logit is the readout times the mean row.
        """
        count, (vocabulary, size) = len(readouts), weight.shape
        with torch.autocast(readouts.device.type, enabled=False):
            # The bias is an extra column, where readouts have a 1, so it needs no pass of its own. Columns of zeros
            # pad the size to a multiple of the tiles of matrix units.
            matrix = readouts.new_zeros(vocabulary, size + _TILE)
            matrix[:, :size], matrix[:, size] = weight, bias
            inputs = readouts.new_zeros(count, size + _TILE)
            inputs[:, :size], inputs[:, size] = readouts, 1
            mean_row, mean_bias = weight.mean(0), bias.mean()
            needs_grad = any(ctx.needs_input_grad)
            grad_readouts = torch.empty_like(readouts)
            grad_matrix = weight.new_zeros(matrix.shape)
            loss = torch.zeros((), dtype=weight.dtype, device=weight.device)
            likelihood = torch.zeros_like(loss)
            floor = torch.finfo(weight.dtype).tiny
            chunk = _CHUNK if readouts.device.type == "cpu" else _GPU_CHUNK
            for start in range(0, count, chunk):
                part, target = inputs[start : start + chunk], targets[start : start + chunk]
                own = torch.arange(len(part), device=part.device), target
                logits = part @ matrix.t()
                chosen = logits[own].to(weight.dtype)
                probabilities = torch.softmax(logits, -1)
                share = probabilities[own]
                surprise = -share.to(weight.dtype).clamp_min(floor).log()
                mean = part[:, :size].to(weight.dtype) @ mean_row + mean_bias
                likelihood += surprise.sum()
                loss += (surprise + smoothing * (chosen - mean)).sum()
                if needs_grad:
                    # Indexed assignment, since scatter_ would copy the whole matrix twice.
                    probabilities[own] = share - (1 - smoothing)
                    torch.mm(probabilities, matrix[:, :size], out=grad_readouts[start : start + chunk])
                    grad_matrix += probabilities.t() @ part
            grad_readouts -= (smoothing * mean_row).to(readouts.dtype)
            grad_weight, grad_bias = grad_matrix[:, :size], grad_matrix[:, size]
            grad_weight -= (smoothing / vocabulary) * readouts.sum(0, dtype=weight.dtype)
            grad_bias -= smoothing * count / vocabulary
        ctx.save_for_backward(grad_readouts, grad_weight, grad_bias)
        ctx.mark_non_differentiable(likelihood)
        return loss, likelihood

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        """Scale the gradients computed in `forward` by `grad`, the gradient of the loss, ()."""
        grad_readouts, grad_weight, grad_bias = ctx.saved_tensors
        return (grad_readouts * grad.to(grad_readouts.dtype), grad_weight * grad, grad_bias * grad, None, None)


class Objective(nn.Module):
    """The network and its loss as one module, so that DistributedDataParallel sees every parameter in one call."""

    def __init__(self, network: Trainable, label_smoothing: float, guidance: float = 0.0) -> None:
        super().__init__()
        self.network = network
        self.label_smoothing, self.guidance = label_smoothing, guidance

    def forward(self, batch: Batch, links: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the loss and the negative log likelihood of a batch, in nats, scalars () summed over target pieces.

        The loss is label-smoothed. Given soft `links` (B, Ty, Tx), it adds `guidance` times their cross-entropy with
        the alignment, - sum_ij links_ij log alpha_ij (Chen et al. 2016). Pieces without links add nothing.
        """
        readouts, alignment = self.network(batch.source, batch.source_lengths, batch.previous)
        is_piece = batch.target != PAD
        output = self.network.output
        loss, likelihood = SmoothedCrossEntropy.apply(
            readouts[is_piece], output.weight, output.bias, batch.target[is_piece], self.label_smoothing
        )
        if links is not None:
            loss = loss - self.guidance * (links * alignment.clamp_min(_LEAST_WEIGHT).log()).sum()
        return loss, likelihood


ROUNDS = 5
"""Passes over the pairs; links change little after the fourth."""
_BATCH_TOKENS = 20_000
_DIAGONAL = 4.0
"""Strength of the preference for the diagonal, in nats over the length of the sentence."""
_UNLINKED = 0.08
"""Expected share of pieces without a counterpart."""
_UNSEEN = 1e-7
"""Probability of two pieces that never occur together."""


class Lexicon:
    """Expected counts of source and target pieces that translate one another."""

    def __init__(self, counts: Tensor) -> None:
        """Store expected `counts` (K, K) over the corpus, target pieces in rows and source pieces in columns."""
        self.counts = counts
        total = counts.sum()
        self._by_source = counts.sum(0).clamp_min(1e-9)
        self._by_target = counts.sum(1).clamp_min(1e-9)
        self._target_share, self._source_share = self._by_target / total, self._by_source / total

    def to(self, device: torch.device) -> Lexicon:
        """Return the lexicon on `device`, for batches there."""
        return Lexicon(self.counts.to(device))

    def links(self, batch: Batch) -> Tensor:
        """Return soft links (B, Ty, Tx) in [0, 1], the product of the link probabilities of both directions.

        Entry ij is the probability that target piece i and source piece j translate one another. Rows and columns sum
        to at most 1; padding has no links.
        """
        source, target = batch.source, batch.target
        joint = self.counts.view(-1)[target[:, :, None] * len(self.counts) + source[:, None, :]]
        prior = _prior(batch)
        by_target = self._by_target[target][:, :, None]
        by_source = self._by_source[source][:, None, :]
        # p(target piece | source piece), then p(source piece | target piece); denominators include "no counterpart".
        forward = (joint / by_source + _UNSEEN) * prior
        forward /= forward.sum(2, keepdim=True) + self._unlinked(self._target_share[target])[:, :, None]
        backward = (joint / by_target + _UNSEEN) * prior
        backward /= backward.sum(1, keepdim=True) + self._unlinked(self._source_share[source])[:, None, :]
        return forward.mul_(backward)

    @staticmethod
    def _unlinked(share: Tensor) -> Tensor:
        return _UNLINKED / (1 - _UNLINKED) * share + _UNSEEN

    @classmethod
    def learn(cls, corpus: Corpus, vocabulary_size: int, seed: int, device: torch.device | str = "cpu") -> Lexicon:
        """Return the lexicon of the pairs of one epoch, by expectation maximisation on `device`.

        It needs memory for two K x K float32 tables: the counts of the last round and of the current one.
        """
        batches = epoch_batches(corpus, _BATCH_TOKENS, seed, 0)
        lexicon = cls(torch.ones(vocabulary_size, vocabulary_size, device=device))
        for _ in tqdm(range(ROUNDS), unit="round", desc="word links"):
            counts = torch.zeros(vocabulary_size * vocabulary_size, device=device)
            for batch in (make_batch(corpus, indices).to(counts.device) for indices in batches):
                cells = batch.target[:, :, None] * vocabulary_size + batch.source[:, None, :]
                # On the CPU index_add_ sums in one thread and in order, so every run gets the same counts; on a GPU
                # the order varies, and with it the last digits.
                counts.index_add_(0, cells.view(-1), lexicon.links(batch).view(-1))
            lexicon = cls(counts.view(vocabulary_size, vocabulary_size))
        return lexicon

    def save(self, path: Path) -> None:
        """Write the counts to `path` (.npy) atomically."""
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.save(file, self.counts.cpu().numpy())

    @classmethod
    def load(cls, path: Path, vocabulary_size: int) -> Lexicon:
        """Return what `save` wrote for `vocabulary_size` pieces; processes of one machine share the memory-mapped file.

        Raise AttnvizError, naming the file, where it is damaged or for another vocabulary.
        """
        try:
            counts = np.load(path, mmap_mode="c", allow_pickle=False)
            if counts.dtype != np.float32 or counts.shape != (vocabulary_size, vocabulary_size):
                raise ValueError("it is of another kind or size")
        except DAMAGED as error:
            message = f"The word links {path} are damaged ({error}). Delete the file to have them learnt again."
            raise AttnvizError(message) from error
        return cls(torch.from_numpy(counts))


def _prior(batch: Batch) -> Tensor:
    """Return the closeness of each cell to the diagonal, (B, Ty, Tx), 0 for padding; rows sum to 1."""
    target_mask, source_mask = batch.target != PAD, batch.source != PAD
    device = batch.target.device
    down = torch.arange(batch.target.shape[1], device=device) / target_mask.sum(1, keepdim=True)
    across = torch.arange(batch.source.shape[1], device=device) / source_mask.sum(1, keepdim=True)
    nearness = torch.exp(-_DIAGONAL * (down[:, :, None] - across[:, None, :]).abs())
    nearness = nearness * target_mask[:, :, None] * source_mask[:, None, :]
    return nearness / nearness.sum(2, keepdim=True).clamp_min(1e-9)
