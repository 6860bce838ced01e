"""Save and load the state of a run: weights, optimiser moments and position in the data, in one safetensors file.

Dropout needs no saved random state, because the generator is seeded at every update from the seed and the update.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import nn
from torch.optim import Optimizer

from attnviz import bounds
from attnviz.attention_kinds import renamed
from attnviz.checkpoint import write_tensors
from attnviz.errors import AttnvizError
from attnviz.files import replacing
from attnviz.model_folder import VERSION
from attnviz.network import AnyConfig, AnyNetwork, read_fields
from attnviz.training.schedule import Muon

_ADAM = ("step", "exp_avg", "exp_avg_sq")
CHECKPOINT = "checkpoint.safetensors"
"""File in a run's folder from which it resumes."""


@dataclass
class Sums:
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
class Progress:
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
    since_row: Sums = field(default_factory=Sums)


def save_state(path: Path, model: AnyNetwork, optimizers: Sequence[Optimizer], progress: Progress) -> None:
    """Write the state, with the config of `model`, atomically."""
    tensors = {f"weight.{name}": parameter.detach() for name, parameter in model.named_parameters()}
    for optimizer, name, parameter in _owned(model, optimizers):
        for moment, tensor in optimizer.state[parameter].items():
            tensors[f"{moment}.{name}"] = tensor
    metadata = {
        "progress": json.dumps(asdict(progress)),
        "model": json.dumps(model.config.to_dict()),
        "version": str(VERSION),
    }
    with replacing(path) as temporary:
        write_tensors(temporary, {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, metadata)


def read_progress(path: Path) -> Progress:
    """Return the progress of the saved run; the initial one where nothing was saved."""
    if not path.exists():
        return Progress()
    with _naming(path), safe_open(path, framework="pt") as file:
        return _progress(file.metadata())


def read_model_config(path: Path) -> AnyConfig | None:
    """Return the config of the saved network; None where nothing was saved, or an old version saved no config."""
    if not path.exists():
        return None
    with _naming(path), safe_open(path, framework="pt") as file:
        metadata = file.metadata()
        if "model" not in metadata:
            return None
        fields = json.loads(metadata["model"])
        return read_fields(fields if "version" in metadata else renamed(fields))


def load_state(path: Path, model: nn.Module, optimizers: Sequence[Optimizer]) -> Progress:
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


def _progress(metadata: dict[str, str]) -> Progress:
    fields = json.loads(metadata["progress"])
    sums = Sums(**fields.pop("since_row", {}))  # missing in files of an earlier version
    fields.setdefault("validated", fields["update"])  # an earlier version saved after validating only
    progress = Progress(**fields, since_row=sums)
    bounds.whole("tokens", sums.tokens, 0, 10**15)
    sums.loss, sums.likelihood = float(sums.loss), float(sums.likelihood)
    for name in ("update", "epoch", "batch", "tokens", "failures", "validated"):
        bounds.whole(name, getattr(progress, name), 0, 10**15)
    bounds.real("seconds", progress.seconds, 0, 1e12)
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
