"""`FixedProduct`: a linear layer with constant weights, laid out for fast decoding."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear

from attnviz.network.derivatives import derivatives_are_taken
from attnviz.network.matmul_speed import onednn_is_faster

_FEW = 40
"""Number of rows up to which float16 weights are faster: reading the matrix then takes longer than multiplying."""
_LARGE = 1 << 20
"""Number of weights from which float16 is faster for few rows: smaller matrices stay in the processor's cache."""
_MANY = 5
"""Number of rows from which oneDNN is faster; for one row it takes 1.5 times as long."""


class FixedProduct:
    """x W + b with a constant matrix: (R, i) to (R, o).

    torch multiplies with MKL. Where MKL is slow, many rows are multiplied by oneDNN, for which a second copy of the
    matrix is stored. Saved models have float16 weights: where W is exact in float16, FBGEMM multiplies few rows by a
    float16 copy, and converts each weight to float32 as it reads it. It reads half as much for the same numbers.
    """

    def __init__(self, weight: Tensor, bias: Tensor, *, lasting: bool = True) -> None:
        """Lay out `weight` (o, i), as in nn.Linear, and `bias` (o,).

        The layout for few rows takes as long as dozens of products; only a `lasting` product gets it.
        """
        weight, self.bias = weight.detach(), bias.detach()
        """b, (o,)."""
        plain = weight.device.type == "cpu" and weight.dtype == torch.float32
        self._half = _half_layout(weight, self.bias) if plain and lasting else None
        self._onednn = (weight.to_mkldnn(), self.bias.to_mkldnn()) if plain and onednn_is_faster() else None
        # Only few rows are multiplied faster by the transposed copy.
        self.weight = weight.t().contiguous() if self._half is None else weight.t()
        """W, (i, o)."""

    def __call__(self, rows: Tensor) -> Tensor:
        """Return x W + b: (R, i) to (R, o)."""
        if not derivatives_are_taken():
            if self._half is not None and len(rows) <= _FEW:
                product: Tensor = torch.ops.quantized.linear_dynamic_fp16(rows, self._half)
                return product
            if self._onednn is not None and len(rows) >= _MANY:
                return linear(rows.to_mkldnn(), *self._onednn).to_dense()
        return torch.addmm(self.bias, rows, self.weight)


def _half_layout(weight: Tensor, bias: Tensor) -> Any:
    """Return `weight` (o, i) in float16, as FBGEMM reads it; None without FBGEMM, or where that is slower or rounds."""
    if weight.numel() < _LARGE or torch.backends.quantized.engine not in ("x86", "fbgemm"):
        return None
    if not torch.equal(weight.half().float(), weight):
        return None
    return torch.ops.quantized.linear_prepack_fp16(weight, bias)
