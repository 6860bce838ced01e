"""The mean of a run's last weights: copies put aside at checkpoints, and what they are on average.

Around the end of a run the weights still wander about a point that is better than any of them; their mean is near it.
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
    """The copies of a run, files of float32 weights named after their update."""

    def __init__(self, folder: Path, most: int) -> None:
        """Keep `most` copies in `folder`."""
        self.folder, self.most = folder, most

    def keep(self, network: nn.Module, update: int) -> None:
        """Put the weights after `update` aside."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(self.folder / f"{update:09}.safetensors") as beside:
            write_tensors(beside, {n: w.detach().float().cpu().contiguous() for n, w in network.named_parameters()})

    def forget(self, update: int) -> None:
        """Delete all but the last copies up to `update`."""
        kept = self.updates(update)
        for path in self.folder.glob("*.safetensors"):
            if not path.stem.isdigit() or int(path.stem) not in kept:
                path.unlink(missing_ok=True)

    def updates(self, update: int) -> list[int]:
        """Return the updates of the last copies up to `update`, in order; what a killed run left beyond is left out."""
        found = sorted(int(path.stem) for path in self.folder.glob("*.safetensors") if path.stem.isdigit())
        return [each for each in found if each <= update][-self.most :]

    @torch.no_grad()
    def average(self, network: nn.Module, updates: Sequence[int]) -> None:
        """Give `network` the mean of the copies of these `updates`; raise AttnvizError where one is damaged."""
        for parameter in network.parameters():
            parameter.zero_()
        for update in updates:
            path = self.folder / f"{update:09}.safetensors"
            try:
                with safe_open(path, framework="pt") as file:
                    for name, parameter in network.named_parameters():
                        parameter.add_(file.get_tensor(name).to(parameter.device), alpha=1 / len(updates))
            except (SafetensorError, OSError, RuntimeError) as error:
                raise AttnvizError(f"The copy {path} is damaged ({error}). Delete it to average without it.") from error
