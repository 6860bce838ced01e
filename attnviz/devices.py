"""List this machine's torch devices, resolve device names, and choose the number of threads of small products."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from attnviz.errors import AttnvizError


def available_devices() -> list[str]:
    """Return the names of this machine's devices, the preferred one first."""
    names = [f"cuda:{i}" for i in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    if torch.backends.mps.is_available():
        names.append("mps")
    return [*names, "cpu"]


def resolve_device(device: str | torch.device) -> torch.device:
    """Return the device, or the one that "auto", "cpu", "cuda", "cuda:1" or "mps" names.

    "auto" is the first CUDA device, else MPS, else the CPU. Raise AttnvizError for any other.
    """
    names, name = available_devices(), str(device)
    full_name = {"auto": names[0], "cuda": "cuda:0"}.get(name, name)
    if full_name not in names:
        raise AttnvizError(f"This machine has no device {name!r}. Choose one of: auto, {', '.join(names)}.")
    return torch.device(full_name)


FEW_ROWS = 40
"""Rows of a decoder step up to which one thread is faster than several.

A thread that waits passively takes some 50 µs to wake up, longer than the products of a step take. On two cores a
sentence takes 0.7 of the time with one thread, a batch of 40 rows as long as with two, with half the processor time.
"""


@contextmanager
def threads_for(rows: int) -> Iterator[None]:
    """Let torch compute steps of so many rows in the calling thread alone, if these are few.

    A thread whose first operation comes meanwhile keeps to one thread, too: `torch.set_num_threads` also sets with how
    many others begin.
    """
    usual = torch.get_num_threads()
    torch.set_num_threads(1 if rows <= FEW_ROWS else usual)
    try:
        yield
    finally:
        torch.set_num_threads(usual)
