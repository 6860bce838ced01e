"""`FixedProduct`: a linear layer with constant weights, laid out for fast decoding."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import linear

from attnviz.network.derivatives import derivatives_are_taken
from attnviz.network.matmul_speed import onednn_is_faster

_MANY = 5
"""Number of rows from which oneDNN is faster; for one row it takes 1.5 times as long."""


class FixedProduct:
    """x W + b with a constant matrix: (R, i) to (R, o).

    torch multiplies with MKL. Where MKL is slow, several rows are multiplied by oneDNN, for which a second copy of the
    matrix is stored.
    """

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        """Lay out `weight` (o, i), as in nn.Linear, and `bias` (o,)."""
        self.weight, self.bias = weight.detach().t().contiguous(), bias.detach()
        """W, (i, o), and b, (o,)."""
        twice = weight.device.type == "cpu" and weight.dtype == torch.float32 and onednn_is_faster()
        self._packed = (weight.detach().to_mkldnn(), self.bias.to_mkldnn()) if twice else None

    def __call__(self, rows: Tensor) -> Tensor:
        """Return x W + b: (R, i) to (R, o)."""
        if self._packed is None or len(rows) < _MANY or derivatives_are_taken():
            return torch.addmm(self.bias, rows, self.weight)
        return linear(rows.to_mkldnn(), *self._packed).to_dense()
