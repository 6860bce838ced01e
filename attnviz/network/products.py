"""Products with the matrices of a network in use, which stay as they are."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import linear

_MANY = 5
"""Rows from which on oneDNN's product is the faster; for one, it takes half as long again."""


class FixedProduct:
    """x W + b with a matrix that does not change any more: (R, i) to (R, o).

    torch multiplies by MKL, whose kernels for processors other than Intel's take twice the time of oneDNN's. So there
    several rows are multiplied by oneDNN, for which the matrix is kept a second time.
    """

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        """Lay out `weight` (o, i), as nn.Linear has it, and `bias` (o,)."""
        self.weight, self.bias = weight.detach().t().contiguous(), bias.detach()
        """(i, o) and (o,)."""
        twice = weight.device.type == "cpu" and weight.dtype == torch.float32 and _mkl_is_slow()
        self._packed = (weight.detach().to_mkldnn(), self.bias.to_mkldnn()) if twice else None

    def __call__(self, rows: Tensor) -> Tensor:
        """Return x W + b: (R, i) to (R, o)."""
        if self._packed is None or len(rows) < _MANY:
            return torch.addmm(self.bias, rows, self.weight)
        return linear(rows.to_mkldnn(), *self._packed).to_dense()


def _mkl_is_slow() -> bool:
    """Return whether torch has both MKL and oneDNN, and runs on a processor that MKL is not made for."""
    both = torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()
    return both and "Intel" not in str(torch.cpu.get_capabilities().get("cpu_name"))
