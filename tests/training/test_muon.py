"""The Muon optimizer: equal to PyTorch's in bfloat16, orthogonal steps in higher precision."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from attnviz.training.run_state import Muon, orthogonalised


def weights_after_steps(optimizer: torch.optim.Optimizer, matrix: nn.Parameter, gradients: list[Tensor]) -> Tensor:
    for gradient in gradients:
        matrix.grad = gradient.clone()
        optimizer.step()
    return matrix.detach()


@pytest.mark.parametrize("shape", [(6, 6), (5, 12), (12, 5)])
def test_bfloat16_steps_equal_those_of_pytorch(shape: tuple[int, int]) -> None:
    generator = torch.Generator().manual_seed(0)
    begin = torch.randn(shape, generator=generator)
    gradients = [torch.randn(shape, generator=generator) for _ in range(4)]
    ours, theirs = nn.Parameter(begin.clone()), nn.Parameter(begin.clone())
    expected = weights_after_steps(
        torch.optim.Muon([theirs], lr=0.1, weight_decay=0.0, adjust_lr_fn="match_rms_adamw"), theirs, gradients
    )
    found = weights_after_steps(Muon([ours], lr=0.1, dtype=torch.bfloat16), ours, gradients)
    torch.testing.assert_close(found, expected, rtol=0, atol=2e-3)


@pytest.mark.parametrize("shape", [(8, 8), (8, 40), (40, 8)])
def test_orthogonalised_has_unit_singular_values_and_same_vectors(shape: tuple[int, int]) -> None:
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    found = orthogonalised(matrix, torch.float64)
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    rotated = left.mT @ found @ right.mT
    assert torch.linalg.svdvals(found).min() > 0.3
    assert torch.linalg.svdvals(found).max() < 1.3
    torch.testing.assert_close(rotated, torch.diag(rotated.diagonal()), rtol=0, atol=1e-9)
    assert (values > 0).all()
