"""The state of a run on disk: weights, the optimisers' moments and the place in the data, in one safetensors file.

Dropout needs no saved random state: the generator is seeded at every update from the seed and the update's number.
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
from attnviz.training.muon import Muon

_ADAM = ("step", "exp_avg", "exp_avg_sq")
CHECKPOINT = "checkpoint.safetensors"
"""The file of a run's folder that it resumes from."""


@dataclass
class Sums:
    """Of the updates since the last row of the log: the row of a run that was stopped in between is of all of them."""

    tokens: int = 0
    """Terms of the loss."""
    loss: float = 0.0
    """In nats, summed over the terms."""
    likelihood: float = 0.0
    """The same without label smoothing."""

    def add(self, tokens: int, loss: float, likelihood: float) -> None:
        """Count one more update of so many terms, with its two losses per term."""
        self.tokens += tokens
        self.loss += loss * tokens
        self.likelihood += likelihood * tokens


@dataclass
class Progress:
    """Where a run stands."""

    update: int = 0
    """Updates done."""
    epoch: int = 0
    batch: int = 0
    """Batches of this epoch already used."""
    tokens: int = 0
    """Terms of the loss so far: target pieces seen, or pairs that a detector judged."""
    seconds: float = 0.0
    """Time spent, over all the times the run was started."""
    best: float = float("inf")
    """Best validation so far: minus its BLEU or accuracy, or its loss where nothing is translated; lower is better."""
    failures: int = 0
    """Validations since then."""
    validated: int = 0
    """The last update after which what is due was measured; a stop may cut a validation short."""
    since_row: Sums = field(default_factory=Sums)


def save_state(path: Path, model: AnyNetwork, optimizers: Sequence[Optimizer], progress: Progress) -> None:
    """Write the state, with the sizes of `model`; a kill at any moment leaves the old file or the new one, never half
    of one."""
    tensors = {f"weight.{name}": parameter.detach() for name, parameter in model.named_parameters()}
    for optimizer, name, parameter in _owned(model, optimizers):
        for moment, tensor in optimizer.state[parameter].items():
            tensors[f"{moment}.{name}"] = tensor
    metadata = {
        "progress": json.dumps(asdict(progress)),
        "model": json.dumps(model.config.to_dict()),
        "version": str(VERSION),
    }
    with replacing(path) as beside:
        write_tensors(beside, {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, metadata)


def read_progress(path: Path) -> Progress:
    """Return where the saved run stands, at the very beginning where nothing was saved."""
    if not path.exists():
        return Progress()
    with _naming(path), safe_open(path, framework="pt") as file:
        return _progress(file.metadata())


def read_model_config(path: Path) -> AnyConfig | None:
    """Return the sizes of the network whose state was saved, or None where none was, or by a version that kept none."""
    if not path.exists():
        return None
    with _naming(path), safe_open(path, framework="pt") as file:
        metadata = file.metadata()
        if "model" not in metadata:
            return None
        kept = json.loads(metadata["model"])
        return read_fields(kept if "version" in metadata else renamed(kept))


def load_state(path: Path, model: nn.Module, optimizers: Sequence[Optimizer]) -> Progress:
    """Put the saved state into `model` and `optimizers` and return the progress; raise AttnvizError where it is damaged
    or of another model."""
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
    """Yield each parameter of `model` with its name and the optimiser that moves it."""
    owners = {id(p): optimizer for optimizer in optimizers for group in optimizer.param_groups for p in group["params"]}
    for name, parameter in model.named_parameters():
        yield owners[id(parameter)], name, parameter


def _progress(metadata: dict[str, str]) -> Progress:
    kept = json.loads(metadata["progress"])
    sums = Sums(**kept.pop("since_row", {}))  # an earlier version kept none
    kept.setdefault("validated", kept["update"])  # an earlier version saved after validating only
    progress = Progress(**kept, since_row=sums)
    bounds.whole("tokens", sums.tokens, 0, 10**15)
    sums.loss, sums.likelihood = float(sums.loss), float(sums.likelihood)
    for name in ("update", "epoch", "batch", "tokens", "failures", "validated"):
        bounds.whole(name, getattr(progress, name), 0, 10**15)
    bounds.real("seconds", progress.seconds, 0, 1e12)
    return progress


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong with a checkpoint into an AttnvizError that names it."""
    try:
        yield
    except (SafetensorError, OSError, ValueError, TypeError, KeyError, AttributeError, RuntimeError) as error:
        raise AttnvizError(
            f"The checkpoint {path} is damaged or of another model ({error}). Give another output folder, or delete it "
            "to start afresh."
        ) from error
