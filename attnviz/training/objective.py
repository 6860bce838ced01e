"""The training objective: label-smoothed cross-entropy over the vocabulary, computed in chunks, and guided alignment.

The logits of a whole batch would be by far the largest tensor. They are computed for some positions at a time: each
chunk's loss and gradient are computed together, and its logits discarded.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from attnviz.network import Trainable
from attnviz.text import PAD
from attnviz.training.batches import Batch

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
