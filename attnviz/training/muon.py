"""Muon (Jordan et al. 2024): an optimiser with momentum whose updates have singular values near 1."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""a, b, c of X ← a X + (b X Xᵀ + c (X Xᵀ)²) X, which brings every singular value to between 0.7 and 1.2."""
STEPS = 5


class Muon(Optimizer):
    """Muon for matrices, with Nesterov momentum; `torch.optim.Muon` with a choice of precision.

    PyTorch 2.13 iterates in bfloat16 whatever the weights are, which takes a hundred times as long as float32 on a CPU
    without bfloat16 instructions.
    """

    def __init__(
        self, matrices: Iterable[nn.Parameter], lr: float, momentum: float = 0.95, dtype: torch.dtype = torch.float32
    ) -> None:
        """Optimise `matrices`; `dtype` is the precision of the iteration."""
        super().__init__(matrices, {"lr": lr, "momentum": momentum})
        self.dtype = dtype

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Update every matrix that has a gradient."""
        for group in self.param_groups:
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                state = self.state[matrix]
                if "momentum_buffer" not in state:
                    state["momentum_buffer"] = torch.zeros_like(matrix)
                buffer = state["momentum_buffer"]
                buffer.lerp_(matrix.grad, 1 - group["momentum"])
                nesterov_gradient = matrix.grad.lerp(buffer, group["momentum"])
                # Scaled to the RMS of an Adam step at the same rate (Liu et al. 2025).
                rate = group["lr"] * 0.2 * math.sqrt(max(matrix.shape))
                matrix.add_(orthogonalised(nesterov_gradient, self.dtype), alpha=-rate)


def orthogonalised(matrix: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return `matrix`, (m, n), with singular values near 1 and the same singular vectors (Newton-Schulz iteration)."""
    a, b, c = COEFFICIENTS
    wide = matrix.to(dtype)
    if tall := len(matrix) > matrix.shape[1]:
        wide = wide.mT
    wide = wide / wide.norm().clamp(min=1e-7)
    for _ in range(STEPS):
        square = wide @ wide.mT
        polynomial = torch.addmm(square, square, square, beta=b, alpha=c)
        wide = torch.addmm(wide, polynomial, wide, beta=a)
    return (wide.mT if tall else wide).to(matrix.dtype)
