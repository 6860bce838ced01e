"""Fast matrix products on this machine: choice of bfloat16 or float32, and linear layers with constant weights."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

from attnviz import bounds
from attnviz.network.derivatives import derivatives_are_taken

_X86 = ("x86_64", "amd64")
_SHAPES = ((64, 128, 64), (512, 1536, 512))
"""Rows, terms and columns of the timed products; the small one detects a very slow type within a millisecond."""
_SECONDS = 0.1
"""Seconds for timing the large product."""
_MINIMUM_SPEEDUP = 1.25
"""Smallest speed ratio at which bfloat16 is chosen; ratios near 1 would make the choice random."""
_STOP_BELOW = 0.5
"""Speed ratio of the small product below which the large one is not timed."""


def choose_precision(wanted: str, device: torch.device) -> str:
    """Return "bf16" or "fp32": the one `wanted`, or for "auto" the faster of the two on `device`.

    An x86 processor with bfloat16 instructions multiplies twice as fast with them. Nothing is measured there: beside
    other programs a measurement differs from process to process, and so would their results.
    """
    bounds.check_one_of("precision", wanted, bounds.PRECISIONS)
    if wanted != "auto":
        return wanted
    if _is_x86(device.type):
        return "bf16" if _has_instructions(device.type) else "fp32"
    return "bf16" if bfloat16_speed(device.type, device.index) >= _MINIMUM_SPEEDUP else "fp32"


@cache
def bfloat16_speed(device_type: str, index: int | None = None) -> float:
    """Return how many times faster a product is in bfloat16 than in float32; 0 without bfloat16 instructions."""
    if not _has_instructions(device_type):
        return 0.0
    device = torch.device(device_type) if index is None else torch.device(device_type, index)
    speed = 0.0
    for shape in _SHAPES:
        speed = _measured_speed(shape, device)
        if speed < _STOP_BELOW:
            break
    return speed


def choose_coarse_precision(wanted: str, device: torch.device) -> str:
    """Return "int8" or "fp32", in which a first pass finds the likely pieces: the one `wanted`, or the faster one.

    Instructions for sums of products of bytes (VNNI) take a quarter of the time of float32.
    """
    bounds.check_one_of("precision", wanted, bounds.COARSE_PRECISIONS)
    if device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return "fp32"
    return ("int8" if _has_byte_instructions() else "fp32") if wanted == "auto" else wanted


def _has_byte_instructions() -> bool:
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("avx512_vnni") or capabilities.get("avx_vnni"))


def _is_x86(device_type: str) -> bool:
    return device_type == "cpu" and platform.machine().lower() in _X86


def _has_instructions(device_type: str) -> bool:
    """Return whether a device has bfloat16 instructions; True where that is unknown."""
    if device_type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if _is_x86(device_type):
        capabilities = torch.cpu.get_capabilities()
        return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))
    return True


def _measured_speed(shape: tuple[int, int, int], device: torch.device) -> float:
    """Return the time of a product in float32 divided by that in bfloat16, the best of several runs each."""
    rows, terms, columns = shape
    best: dict[torch.dtype, float] = {}
    products = {
        dtype: _product_function(torch.ones(rows, terms, device=device, dtype=dtype), columns)
        for dtype in (torch.float32, torch.bfloat16)
    }
    end = time.perf_counter() + _SECONDS
    while True:
        for dtype, product in products.items():
            started = time.perf_counter()
            product()
            _synchronize(device.type)
            best[dtype] = min(best.get(dtype, float("inf")), time.perf_counter() - started)
        if time.perf_counter() > end or best[torch.bfloat16] > 10 * best[torch.float32]:
            return best[torch.float32] / best[torch.bfloat16]


def _product_function(left: Tensor, columns: int) -> Callable[[], Tensor]:
    right = torch.ones(columns, left.shape[1], device=left.device, dtype=left.dtype)
    return lambda: left @ right.t()


def _synchronize(device_type: str) -> None:
    """Wait until the operations on a device have finished."""
    if device_type == "cuda":
        torch.cuda.synchronize()
    elif device_type == "mps":
        torch.mps.synchronize()


@cache
def onednn_is_faster() -> bool:
    """Return whether torch has MKL and oneDNN and the processor is not Intel's.

    On other processors MKL's kernels take twice the time of oneDNN's.
    """
    has_both = torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()
    return has_both and "Intel" not in str(torch.cpu.get_capabilities().get("cpu_name"))


_FEW = 40
"""Number of rows up to which float16 weights are faster: reading the matrix then takes longer than multiplying."""
_LARGE = 1 << 17
"""Number of weights from which float16 is faster for few rows; smaller matrices are multiplied while a call begins."""
_MANY = 2
"""Number of rows from which oneDNN is faster."""


class FixedProduct:
    """x W + b with a constant matrix: (R, i) to (R, o).

    torch multiplies with MKL. Where MKL is slow, oneDNN multiplies a second copy of the matrix, in blocks as it reads
    them. Saved models have float16 weights: where W is exact in float16, FBGEMM multiplies few rows by a float16 copy,
    and converts each weight to float32 as it reads it. It reads half as much for the same numbers.
    """

    def __init__(self, weight: Tensor, bias: Tensor, *, lasting: bool = True) -> None:
        """Lay out `weight` (o, i), as in nn.Linear, and `bias` (o,).

        The layout for few rows takes as long as dozens of products; only a `lasting` product gets it.
        """
        weight, self.bias = weight.detach(), bias.detach()
        """b, (o,)."""
        plain = weight.device.type == "cpu" and weight.dtype == torch.float32
        self._half = _half_layout(weight, self.bias) if plain and lasting else None
        # The operations that torch.compile emits for a linear layer with constant weights.
        self._blocks = torch.ops.mkldnn._reorder_linear_weight(weight, _FEW) if plain and onednn_is_faster() else None
        # Only few rows are multiplied faster by the transposed copy.
        self.weight = weight.t().contiguous() if self._half is None else weight.t()
        """W, (i, o)."""

    def __call__(self, rows: Tensor) -> Tensor:
        """Return x W + b: (R, i) to (R, o)."""
        if not derivatives_are_taken():
            if self._half is not None and len(rows) <= _FEW:
                product: Tensor = torch.ops.quantized.linear_dynamic_fp16(rows, self._half)
                return product
            if self._blocks is not None and len(rows) >= _MANY:
                blocked: Tensor = torch.ops.mkldnn._linear_pointwise(rows, self._blocks, self.bias, "none", [], "")
                return blocked
        return torch.addmm(self.bias, rows, self.weight)


def _half_layout(weight: Tensor, bias: Tensor) -> Any:
    """Return `weight` (o, i) in float16, as FBGEMM reads it; None without FBGEMM, or where that is slower or rounds."""
    if weight.numel() < _LARGE or torch.backends.quantized.engine not in ("x86", "fbgemm"):
        return None
    if not torch.equal(weight.half().float(), weight):
        return None
    return torch.ops.quantized.linear_prepack_fp16(weight, bias)


class ByteProduct:
    """x W + b, (R, i) to (R, o), of rows and weights rounded to 8 bits, with a bound on the error of each row.

    With x' and w' for a row and a column after rounding, w x - w' x' = w' (x - x') + (w - w') x. By Cauchy-Schwarz this
    is at most |w'| |x - x'| + |w - w'| |x|. Sums of products of integers are exact.
    """

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        """Round `weight` (o, i), each row of it to 127 steps of its own size; `bias` (o,) stays in float32."""
        self._steps, self._bias = weight.abs().amax(1).clamp(min=1e-30) / 127, bias
        whole = (weight / self._steps[:, None]).round()
        rounded = whole * self._steps[:, None]
        self._weights = torch.ops.onednn.qlinear_prepack(whole.to(torch.int8), None)
        self._zeros = torch.zeros(len(weight), dtype=torch.int32)
        self._norm = rounded.norm(dim=1).max()
        self._rounding = (weight - rounded).norm(dim=1).max() + 2**-20 * self._norm
        # Without these instructions pairs of products are added in 16 bits, which overflow for rows of 8 bits.
        self._most = 127 if _has_byte_instructions() else 63

    def __call__(self, rows: Tensor, dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor]:
        """Return x' W' + b, (R, o), rounded to `dtype`, and the bound for float32, (R, 1)."""
        step = float(rows.abs().max()) / self._most or 1.0
        whole, zero = (rows / step).round_(), self._most + 1
        error = self._norm * (rows - step * whole).norm(dim=1) + self._rounding * rows.norm(dim=1)
        product = torch.ops.onednn.qlinear_pointwise(
            whole.add_(zero).to(torch.uint8),
            step,
            zero,
            self._weights,
            self._steps,
            self._zeros,
            self._bias,
            1.0,
            0,
            dtype,
            "none",
            [],
            "",
        )
        return product, error[:, None]
