"""The state of a run on disk: weights, Adam's moments and the place in the data, in one safetensors file.

Dropout needs no saved random state: the generator is seeded at every update from the seed and the update's number.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn
from torch.optim import Optimizer

from attnviz.errors import AttnvizError

CHECKPOINT = "checkpoint.safetensors"
"""The file of a run's folder that it resumes from."""


@dataclass
class Progress:
    """Where a run stands."""

    update: int = 0
    """Updates done."""
    epoch: int = 0
    batch: int = 0
    """Batches of this epoch already used."""
    tokens: int = 0
    """Target pieces seen."""
    seconds: float = 0.0
    """Time spent, over all the times the run was started."""
    best: float = float("inf")
    """Best validation so far: minus its BLEU, or its loss where nothing is translated; lower is better."""
    failures: int = 0
    """Validations since then."""


def save_state(path: Path, model: nn.Module, optimizer: Optimizer, progress: Progress) -> None:
    """Write the state; a kill at any moment leaves the old file or the new one, never half of one."""
    tensors = {f"weight.{name}": parameter.detach() for name, parameter in model.named_parameters()}
    for name, parameter in model.named_parameters():
        for moment, tensor in optimizer.state[parameter].items():
            tensors[f"{moment}.{name}"] = tensor
    beside = path.with_suffix(".tmp")
    save_file({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, beside,
              metadata={"progress": json.dumps(asdict(progress))})  # fmt: skip
    with beside.open("rb") as file:
        os.fsync(file.fileno())
    beside.replace(path)


def read_progress(path: Path) -> Progress:
    """Return where the saved run stands, at the very beginning where nothing was saved."""
    if not path.exists():
        return Progress()
    with _naming(path), safe_open(path, framework="pt") as file:
        return _progress(file.metadata())


def load_state(path: Path, model: nn.Module, optimizer: Optimizer) -> Progress:
    """Put the saved state into `model` and `optimizer` and return the progress; raise AttnvizError where it is damaged
    or of another model."""
    with _naming(path), safe_open(path, framework="pt") as file, torch.no_grad():
        progress = _progress(file.metadata())
        for name, parameter in model.named_parameters():
            parameter.copy_(file.get_tensor(f"weight.{name}"))
            optimizer.state[parameter] = {
                moment: file.get_tensor(f"{moment}.{name}").to(parameter.device)
                for moment in ("step", "exp_avg", "exp_avg_sq")
            }
    return progress


def _progress(metadata: dict[str, str]) -> Progress:
    return Progress(**json.loads(metadata["progress"]))


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong with a checkpoint into an AttnvizError that names it."""
    try:
        yield
    except (SafetensorError, OSError, ValueError, TypeError, KeyError, RuntimeError) as error:
        raise AttnvizError(
            f"The checkpoint {path} is damaged or of another model ({error}). Give another output folder, or delete it "
            "to start afresh."
        ) from error
