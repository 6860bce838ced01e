"""The output layer in use: the probabilities of all pieces after many readouts, or the likeliest piece of each."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class OutputLayer:
    """W_o t + b_o of a network in use; its weights must not change afterwards."""

    def __init__(self, layer: nn.Linear) -> None:
        """Lay the matrix out."""
        self.weight, self.bias = layer.weight.detach().t().contiguous(), layer.bias.detach()
        """(l, K) and (K,)."""

    def logits(self, readouts: Tensor) -> Tensor:
        """W_o t + b_o: (R, l) to (R, K)."""
        return torch.addmm(self.bias, readouts, self.weight)

    def log_probabilities(self, readouts: Tensor) -> Tensor:
        """Return log p(y_i), at most 0: (R, l) to (R, K)."""
        return torch.log_softmax(self.logits(readouts), -1)

    def likeliest(self, readouts: Tensor, first: int) -> list[int]:
        """Return the likeliest piece after each of the `readouts` (R, l), among those with ids from `first` on."""
        logits = self.logits(readouts)
        logits[:, :first] = float("-inf")
        # NumPy looks for the largest of float32 numbers ten times as fast as torch does.
        found: list[int] = (logits.numpy() if logits.device.type == "cpu" else logits).argmax(1).tolist()
        return found
