"""Make the optimizers; compute the learning rate of each update, the updates of snapshots, and the time left."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.optim import Adam, Optimizer

from attnviz.training.config import TrainingConfig
from attnviz.training.muon import Muon

_WARMING = 1
"""First updates of a process that are left out of its pace, because memory and kernels are allocated then."""
FORECAST_AFTER, FORECAST_AGAIN = 3, 50
"""Updates of a process after which the time left is printed.

The first is early enough to choose another size; by the second, batches of all lengths have been used.
"""

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


def learning_rate(config: TrainingConfig, update: int) -> float:
    """Return the learning rate of 0-based `update`.

    It rises linearly over `warmup` and falls to `final_rate` times the peak at the last update: along a cosine or, with
    `decay_updates`, it stays constant and then falls linearly.
    """
    if update < config.warmup:
        return config.learning_rate * (update + 1) / config.warmup
    decay_share = config.decay_updates or config.updates - config.warmup
    share = min(1.0, max(0.0, 1 - (config.updates - update) / max(1, decay_share)))
    height = 1 - share if config.decay_updates else (1 + math.cos(math.pi * share)) / 2
    return config.learning_rate * (config.final_rate + (1 - config.final_rate) * height)


def snapshot_moments(config: TrainingConfig) -> set[int]:
    """Return the updates at which snapshots are taken: evenly spaced in log time, including the last."""
    if config.snapshots == 0:
        return set()
    return set(np.geomspace(min(20, config.updates), config.updates, config.snapshots).round().astype(int).tolist())


@dataclass
class Pace:
    """Speed of this process of the run."""

    updates: int = 0
    seconds: float = 0.0
    """Total time of the updates without the first, in seconds."""
    validation: float | None = None
    """Time of the last validation, in seconds."""

    def add(self, seconds: float) -> None:
        """Count one more update, which took `seconds`."""
        self.updates += 1
        if self.updates > _WARMING:
            self.seconds += seconds

    def left(self, config: TrainingConfig, update: int) -> str:
        """Return a sentence on the time left after `update`, without early stopping."""
        each = self.seconds / max(1, self.updates - _WARMING)
        validations = math.ceil(config.updates / config.validate_every) - update // config.validate_every
        seconds = (config.updates - update) * each + validations * (self.validation or 0.0)
        suffix = "" if self.validation is not None else f", and {validations} validations besides"
        return (
            f"{config.updates - update:,} updates to go, {each:.2g} s each: about {duration(seconds)}{suffix}. "
            "Stopped, the run goes on when the same command is given again."
        )


def duration(seconds: float) -> str:
    """Return a duration such as `4 h 05 min`, `5 min` or `40 s`."""
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60:,} h {minutes % 60:02} min"
    return f"{minutes} min" if minutes else f"{seconds:.0f} s"
