"""Optimizers (Adam, Muon), learning rates, times of snapshots, averaged weights, time left, and a run's saved state.

Muon is that of Jordan et al. (2024).

Near the end of a run the weights oscillate around a point with a lower loss than theirs; their mean is close to it.

Dropout needs no saved random state, because the generator is seeded at every update from the seed and the update.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.optim import Adam, Optimizer

from attnviz import bounds
from attnviz.analysis.labels import duration
from attnviz.checkpoint import write_tensors
from attnviz.errors import AttnvizError
from attnviz.files import replacing
from attnviz.network import AnyConfig, AnyNetwork, read_fields
from attnviz.training.training_config import TrainingConfig

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


NEWTON_SCHULZ_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""a, b, c of X ← a X + (b X Xᵀ + c (X Xᵀ)²) X, which brings every singular value to between 0.7 and 1.2."""
NEWTON_SCHULZ_STEPS = 5

_MOMENTUM = 0.95
"""Share of the former mean gradient in the next one, as in `torch.optim.Muon`."""


class Muon(Optimizer):
    """Muon for matrices, with Nesterov momentum; `torch.optim.Muon` with a choice of precision.

    PyTorch 2.13 iterates in bfloat16 whatever the weights are, which takes a hundred times as long as float32 on a CPU
    without bfloat16 instructions.
    """

    def __init__(self, matrices: Iterable[nn.Parameter], lr: float, dtype: torch.dtype = torch.float32) -> None:
        """Optimise `matrices`; `dtype` is the precision of the iteration."""
        super().__init__(matrices, {"lr": lr})
        self.dtype = dtype

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Update every matrix that has a gradient."""
        for group in self.param_groups:
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                state = self.state[matrix]
                if "momentum_buffer" not in state:
                    state["momentum_buffer"] = torch.zeros_like(matrix)
                buffer = state["momentum_buffer"]
                buffer.lerp_(matrix.grad, 1 - _MOMENTUM)
                nesterov_gradient = matrix.grad.lerp(buffer, _MOMENTUM)
                # Scaled to the RMS of an Adam step at the same rate (Liu et al. 2025).
                rate = group["lr"] * 0.2 * math.sqrt(max(matrix.shape))
                matrix.add_(orthogonalised(nesterov_gradient, self.dtype), alpha=-rate)


def orthogonalised(matrix: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return `matrix`, (m, n), with singular values near 1 and the same singular vectors (Newton-Schulz iteration)."""
    a, b, c = NEWTON_SCHULZ_COEFFICIENTS
    wide = matrix.to(dtype)
    if tall := len(matrix) > matrix.shape[1]:
        wide = wide.mT
    wide = wide / wide.norm().clamp(min=1e-7)
    for _ in range(NEWTON_SCHULZ_STEPS):
        square = wide @ wide.mT
        polynomial = torch.addmm(square, square, square, beta=b, alpha=c)
        wide = torch.addmm(wide, polynomial, wide, beta=a)
    return (wide.mT if tall else wide).to(matrix.dtype)


class WeightCopies:
    """Copies of a run's weights: float32 safetensors files named after their update."""

    def __init__(self, folder: Path, most: int) -> None:
        """Store at most `most` copies in `folder`."""
        self.folder, self.most = folder, most

    def save_copy(self, network: nn.Module, update: int) -> None:
        """Save the weights after `update`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(self.folder / f"{update:09}.safetensors") as temporary:
            write_tensors(temporary, {n: w.detach().float().cpu().contiguous() for n, w in network.named_parameters()})

    def delete_old(self, update: int) -> None:
        """Delete all but the last copies up to `update`."""
        latest = self.updates(update)
        for path in self.folder.glob("*.safetensors"):
            if not path.stem.isdigit() or int(path.stem) not in latest:
                path.unlink(missing_ok=True)

    def updates(self, update: int) -> list[int]:
        """Return the updates of the last copies up to `update`, in order; later ones, of a killed run, are ignored."""
        saved = sorted(int(path.stem) for path in self.folder.glob("*.safetensors") if path.stem.isdigit())
        return [each for each in saved if each <= update][-self.most :]

    @torch.no_grad()
    def average(self, network: nn.Module, updates: Sequence[int]) -> None:
        """Set the weights of `network` to the mean of the copies of `updates`; raise AttnvizError if one is damaged."""
        for parameter in network.parameters():
            parameter.zero_()
        for update in updates:
            path = self.folder / f"{update:09}.safetensors"
            try:
                with safe_open(path, framework="pt") as file:
                    for name, parameter in network.named_parameters():
                        parameter.add_(file.get_tensor(name).to(parameter.device), alpha=1 / len(updates))
            except (SafetensorError, OSError, RuntimeError) as error:
                raise AttnvizError(
                    f"The stored copy of the weights {path} is damaged ({error}). Delete it to average without "
                    "this copy."
                ) from error


_ADAM = ("step", "exp_avg", "exp_avg_sq")
CHECKPOINT = "checkpoint.safetensors"
"""File in a run's folder from which it resumes."""


@dataclass
class LossSums:
    """Loss sums since the last row of the log; saved, so that a row covers updates from before and after a stop."""

    tokens: int = 0
    """Number of loss terms."""
    loss: float = 0.0
    """Loss in nats, summed over the terms."""
    likelihood: float = 0.0
    """Negative log likelihood in nats, without label smoothing, summed over the terms."""

    def add(self, tokens: int, loss: float, likelihood: float) -> None:
        """Add an update with `tokens` loss terms and its two losses, summed over the terms."""
        self.tokens += tokens
        self.loss += loss
        self.likelihood += likelihood


@dataclass
class TrainingProgress:
    """Position of a run and its totals so far."""

    update: int = 0
    """Number of updates done."""
    epoch: int = 0
    batch: int = 0
    """Number of batches of this epoch already used."""
    tokens: int = 0
    """Number of loss terms so far: target pieces, or pairs for a detector."""
    seconds: float = 0.0
    """Training time over all processes that continued the run, one after the other."""
    best: float = float("inf")
    """Best validation score so far, lower is better: minus BLEU or accuracy, or the loss if nothing is translated."""
    failures: int = 0
    """Number of validations since then."""
    validated: int = 0
    """Last update whose due validation is complete; a stop may interrupt a validation."""
    since_row: LossSums = field(default_factory=LossSums)


def save_state(path: Path, model: AnyNetwork, optimizers: Sequence[Optimizer], progress: TrainingProgress) -> None:
    """Write the state, with the config of `model`, atomically."""
    tensors = {f"weight.{name}": parameter.detach() for name, parameter in model.named_parameters()}
    for optimizer, name, parameter in _owned(model, optimizers):
        for moment, tensor in optimizer.state[parameter].items():
            tensors[f"{moment}.{name}"] = tensor
    metadata = {"progress": json.dumps(asdict(progress)), "model": json.dumps(model.config.to_dict())}
    with replacing(path) as temporary:
        write_tensors(temporary, {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, metadata)


def read_progress(path: Path) -> TrainingProgress:
    """Return the progress of the saved run; the initial one where nothing was saved."""
    if not path.exists():
        return TrainingProgress()
    with _naming(path), safe_open(path, framework="pt") as file:
        return _progress(file.metadata())


def read_model_config(path: Path) -> AnyConfig | None:
    """Return the config of the saved network; None where nothing was saved."""
    if not path.exists():
        return None
    with _naming(path), safe_open(path, framework="pt") as file:
        return read_fields(json.loads(file.metadata()["model"]))


def load_state(path: Path, model: nn.Module, optimizers: Sequence[Optimizer]) -> TrainingProgress:
    """Load the saved state into `model` and `optimizers` and return the progress.

    Raise AttnvizError where it is damaged or of another model.
    """
    with _naming(path), safe_open(path, framework="pt") as file, torch.no_grad():
        progress = _progress(file.metadata())
        for optimizer, name, parameter in _owned(model, optimizers):
            parameter.copy_(file.get_tensor(f"weight.{name}"))
            optimizer.state[parameter] = {
                moment: file.get_tensor(f"{moment}.{name}").to(parameter.device)
                for moment in (("momentum_buffer",) if isinstance(optimizer, Muon) else _ADAM)
            }
    return progress


def _owned(model: nn.Module, optimizers: Sequence[Optimizer]) -> Iterator[tuple[Optimizer, str, nn.Parameter]]:
    """Yield each parameter of `model` with its name and its optimiser."""
    owners = {id(p): optimizer for optimizer in optimizers for group in optimizer.param_groups for p in group["params"]}
    for name, parameter in model.named_parameters():
        yield owners[id(parameter)], name, parameter


def _progress(metadata: dict[str, str]) -> TrainingProgress:
    fields = json.loads(metadata["progress"])
    sums = LossSums(**fields.pop("since_row"))
    progress = TrainingProgress(**fields, since_row=sums)
    bounds.check_whole("tokens", sums.tokens, 0, 10**15)
    sums.loss, sums.likelihood = float(sums.loss), float(sums.likelihood)
    for name in ("update", "epoch", "batch", "tokens", "failures", "validated"):
        bounds.check_whole(name, getattr(progress, name), 0, 10**15)
    bounds.check_real("seconds", progress.seconds, 0, 1e12)
    return progress


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn any error of reading a checkpoint into an AttnvizError that names the file."""
    try:
        yield
    except (SafetensorError, OSError, ValueError, TypeError, KeyError, AttributeError, RuntimeError) as error:
        raise AttnvizError(
            f"The checkpoint {path} is damaged or belongs to another model ({error}). Delete it to start again, "
            "or give another output folder."
        ) from error
