"""Hand-written GRU gradients against finite differences, and the encoder against torch's GRU."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attnviz.network.recurrence import AttentiveGRUSequence, GRUSequence


def _random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(3)


def test_gru_gradients_equal_finite_differences() -> None:
    steps, directions, batch, n = 4, 2, 3, 3
    arguments = (
        _random(steps, directions, batch, 3 * n),
        _random(directions, batch, n),
        _random(directions, 3 * n, n),
        _random(directions, 3 * n),
    )
    assert torch.autograd.gradcheck(GRUSequence.apply, arguments)


@pytest.mark.parametrize("additive", [True, False])
def test_attentive_gru_gradients_equal_finite_differences(additive: bool) -> None:
    steps, batch, length, n = 3, 2, 4, 3
    size = 5 if additive else n
    mask = torch.zeros(batch, length, dtype=torch.float64)
    mask[1, 3] = float("-inf")
    arguments = (
        _random(steps, batch, 3 * n),
        _random(batch, n),
        _random(batch, length, size),
        _random(batch, length, 3 * n),
        mask,
        _random(3 * n, n),
        _random(3 * n),
        _random(size, n) if additive else None,
        _random(size) if additive else None,
    )
    assert torch.autograd.gradcheck(AttentiveGRUSequence.apply, arguments)
