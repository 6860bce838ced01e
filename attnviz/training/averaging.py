"""Average the last weights of a run: save copies at checkpoints and compute their mean.

Near the end of a run the weights oscillate around a point with a lower loss than theirs; their mean is close to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from attnviz.checkpoint import write_tensors
from attnviz.errors import AttnvizError
from attnviz.files import replacing


class Copies:
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
