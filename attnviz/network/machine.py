"""What this machine multiplies fast: one place that knows or measures it, for training, decoding and corpora."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from attnviz import bounds

_X86 = ("x86_64", "amd64")
_SHAPES = ((64, 128, 64), (512, 1536, 512))
"""Rows, terms and columns of the products that are timed: a small one shows in a millisecond what is hopeless."""
_SECONDS = 0.1
"""Spent on timing the large product."""
FASTER = 1.25
"""How many times as fast bfloat16 must be to be taken: what is near 1 would be chosen by chance."""
_HOPELESS = 0.5


def choose_precision(wanted: str, device: torch.device) -> str:
    """Return "bf16" or "fp32": what is `wanted`, or with "auto" the faster of the two on `device`."""
    bounds.one_of("precision", wanted, bounds.PRECISIONS)
    if wanted != "auto":
        return wanted
    return "bf16" if bfloat16_speed(device.type, device.index) >= FASTER else "fp32"


@cache
def bfloat16_speed(kind: str, index: int | None = None) -> float:
    """Return how many times as fast a product in bfloat16 is as in float32; 0 where the device lacks instructions."""
    if not _has_instructions(kind):
        return 0.0
    device = torch.device(kind) if index is None else torch.device(kind, index)
    speed = 0.0
    for shape in _SHAPES:
        speed = _measured_speed(shape, device)
        if speed < _HOPELESS:
            break
    return speed


def _has_instructions(kind: str) -> bool:
    """Return whether a device computes in bfloat16 itself, as far as it tells; True where it does not tell."""
    if kind == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if kind == "cpu" and platform.machine().lower() in _X86:
        able = torch.cpu.get_capabilities()
        return bool(able.get("avx512_bf16") or able.get("amx_bf16"))
    return True


def _measured_speed(shape: tuple[int, int, int], device: torch.device) -> float:
    """Return the time of a product in float32 by that in bfloat16, the best of several turns of each."""
    rows, terms, columns = shape
    best: dict[torch.dtype, float] = {}
    products = {
        dtype: _product(torch.ones(rows, terms, device=device, dtype=dtype), columns)
        for dtype in (torch.float32, torch.bfloat16)
    }
    end = time.perf_counter() + _SECONDS
    while True:
        for dtype, product in products.items():
            started = time.perf_counter()
            product()
            _wait(device.type)
            best[dtype] = min(best.get(dtype, float("inf")), time.perf_counter() - started)
        if time.perf_counter() > end or best[torch.bfloat16] > 10 * best[torch.float32]:
            return best[torch.float32] / best[torch.bfloat16]


def _product(left: Tensor, columns: int) -> Callable[[], Tensor]:
    right = torch.ones(columns, left.shape[1], device=left.device, dtype=left.dtype)
    return lambda: left @ right.t()


def _wait(kind: str) -> None:
    """Return when what was started on a device is done."""
    if kind == "cuda":
        torch.cuda.synchronize()
    elif kind == "mps":
        torch.mps.synchronize()


@cache
def mkl_is_slow() -> bool:
    """Return whether torch has both MKL and oneDNN, and runs on a processor that MKL is not made for.

    MKL's kernels for processors other than Intel's take twice the time of oneDNN's.
    """
    both = torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()
    return both and "Intel" not in str(torch.cpu.get_capabilities().get("cpu_name"))
