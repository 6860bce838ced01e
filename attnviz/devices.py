"""List this machine's torch devices and resolve device names."""

from __future__ import annotations

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
