"""Create the optimisers of a run: Muon for inner matrices, Adam for all other parameters.

Muon (Jordan et al. 2024) makes the singular values of each matrix update equal. It helps matrices that map vectors to
vectors. Embeddings and output layer, whose rows are words of very different frequency, use Adam.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.optim import Adam, Optimizer

from attnviz.training.config import TrainingConfig
from attnviz.training.muon import Muon

_WORDS = ("embedding", "output")
"""Parts of the names of parameters with one row for each piece."""


def make_optimizers(network: nn.Module, config: TrainingConfig) -> list[Optimizer]:
    """Return Adam and, unless `matrix_rate` is 0, Muon; each parameter of `network` belongs to exactly one of them."""
    matrices: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for name, parameter in network.named_parameters():
        inner = parameter.dim() == 2 and not any(part in name for part in _WORDS)
        (matrices if inner and config.matrix_rate else others).append(parameter)
    adam = Adam(others, lr=config.learning_rate, betas=(0.9, 0.98), eps=1e-8, fused=True)
    if not matrices:
        return [adam]
    dtype = torch.bfloat16 if config.precision == "bf16" else torch.float32
    return [adam, Muon(matrices, lr=config.learning_rate, dtype=dtype)]


def set_rate(optimizers: list[Optimizer], rate: float, config: TrainingConfig) -> None:
    """Set the learning rate of the next step to `rate`, times `matrix_rate` for Muon."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = rate * config.matrix_rate if isinstance(optimizer, Muon) else rate
