"""The chunked cross-entropy objective against torch's own."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import cross_entropy, linear

from attnviz.training import objective
from attnviz.training.objective import SmoothedCrossEntropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk", [4, 512])
def test_loss_and_gradients_equal_torch_cross_entropy(
    smoothing: float, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objective, "_CHUNK", chunk)
    torch.manual_seed(0)
    readouts = torch.randn(11, 6, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(9, 6, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(9, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(0, 9, (11,))
    loss, likelihood = SmoothedCrossEntropy.apply(readouts, weight, bias, targets, smoothing)
    found = torch.autograd.grad(loss * 0.3, (readouts, weight, bias))
    logits = linear(readouts, weight, bias)
    expected = cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum")
    gradients = torch.autograd.grad(expected * 0.3, (readouts, weight, bias))
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(likelihood, cross_entropy(logits, targets, reduction="sum"))
    for ours, theirs in zip(found, gradients, strict=True):
        torch.testing.assert_close(ours, theirs)
