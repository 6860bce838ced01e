"""`Team`: sums and barriers across the processes that train together, one or as many as torchrun started."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from attnviz.devices import resolve_device
from attnviz.training.config import TrainingConfig


@dataclass(frozen=True)
class Team:
    """One of the processes that train together; the only one unless torchrun started more."""

    rank: int
    size: int
    device: torch.device

    @property
    def leads(self) -> bool:
        """Whether this process writes the files and shows the progress."""
        return self.rank == 0

    def wait(self) -> None:
        """Wait until every process arrives here."""
        if self.size > 1:
            dist.barrier()

    def count(self, number: int) -> int:
        """Return the sum of `number` over all processes."""
        if self.size == 1:
            return number
        total = torch.tensor([number], dtype=torch.int64, device=self.device)
        dist.all_reduce(total)
        return int(total)

    def total(self, amounts: Tensor) -> Tensor:
        """Return the sums of `amounts`, any shape, over all processes."""
        if self.size > 1:
            amounts = amounts.clone()
            dist.all_reduce(amounts)
        return amounts

    def any(self, flag: bool) -> bool:
        """Return whether `flag` is set in any process, the same value in all of them."""
        return self.count(int(flag)) > 0

    def broadcast(self, value: float) -> float:
        """Return the leading process's `value`, in float32, in every process."""
        shared = torch.tensor([value], dtype=torch.float32, device=self.device)
        if self.size > 1:
            dist.broadcast(shared, 0)
        return float(shared)


@contextlib.contextmanager
def team(config: TrainingConfig) -> Iterator[Team]:
    """Join the processes that torchrun started, with NCCL on CUDA and gloo elsewhere."""
    size, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    device = resolve_device(config.device)
    if size == 1:
        yield Team(rank, size, device)
        return
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Team(rank, size, device)
        # Wait for all: a process that exits while another still sends data aborts that one.
        dist.barrier()
    finally:
        dist.destroy_process_group()
