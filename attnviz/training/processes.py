"""Distributed training with torchrun: sums and barriers over processes (`ProcessGroup`); stop on Ctrl-C or SIGTERM."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType

import torch
import torch.distributed as dist
from torch import Tensor

from attnviz.devices import resolve_device
from attnviz.training.training_config import TrainingConfig


@dataclass(frozen=True)
class ProcessGroup:
    """One of the processes that train together; the only one unless torchrun started more."""

    rank: int
    size: int
    device: torch.device

    @property
    def is_main(self) -> bool:
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
def join_process_group(config: TrainingConfig) -> Iterator[ProcessGroup]:
    """Join the processes that torchrun started, with NCCL on CUDA and gloo elsewhere.

    The block deletes what refers to the group, such as a DistributedDataParallel: the threads of gloo end with the last
    reference, and a thread that frees a tensor while the interpreter ends aborts the process (PyTorch 2.13, issue
    190489).
    """
    size, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    device = resolve_device(config.device)
    if size == 1:
        yield ProcessGroup(rank, size, device)
        return
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    # DistributedDataParallel imports this module, whose functions have the group of that time as default argument.
    importlib.import_module("torch.distributed.nn")
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield ProcessGroup(rank, size, device)
        # Wait for all: a process that exits while another still sends data aborts that one.
        dist.barrier()
    finally:
        gc.collect()  # DistributedDataParallel is part of a reference cycle
        dist.destroy_process_group()


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_REMARK = b"\nStopping after this update. Interrupt again to stop at once, without saving.\n"


class Stopped(KeyboardInterrupt):
    """Raised after a stop request, when the state is saved; the message says how to resume."""


class Interrupted(Exception):
    """Raised in a validation that a stop request interrupts."""


class StopRequest:
    """Whether the run was asked to stop; a second request ends the process, or raises KeyboardInterrupt."""

    def __init__(self, *, several: bool = False, kill: bool = False) -> None:
        """Ignore a second request where `several` processes train: torchrun sends one besides the terminal's.

        With `kill` the second request has the system's default effect, which ends the process even within a long
        operation. Otherwise it calls the handlers that were installed before, such as a notebook's.
        """
        self.requested = False
        self._several, self._kill, self._raises = several, kill, False

    @contextlib.contextmanager
    def listening(self, announce: bool = True) -> Iterator[None]:
        """Handle the signals until the block ends, if in the main thread: Python allows handlers only there."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        previous_handlers = {number: signal.getsignal(number) for number in _SIGNALS}

        def stop(_number: int, _frame: FrameType | None) -> None:
            if not self.requested and not self._several:
                for number in _SIGNALS:
                    signal.signal(number, signal.SIG_DFL if self._kill else previous_handlers[number])
                if announce:
                    # os.write, because Python's buffered streams are not reentrant in a signal handler.
                    with contextlib.suppress(OSError):
                        os.write(2, _REMARK)
            self.requested = True
            if self._raises:
                self._raises = False
                raise Interrupted

        try:
            for number in _SIGNALS:
                signal.signal(number, stop)
            yield
        finally:
            for number, handler in previous_handlers.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def cutting_short(self) -> Iterator[None]:
        """Raise Interrupted in the block as soon as a stop is requested, or at once if it was requested before."""
        if self.requested:
            raise Interrupted
        self._raises = True
        try:
            yield
        finally:
            self._raises = False
