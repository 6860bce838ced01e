"""The output layer in use: the logits of many readouts at once, or the likeliest piece of each and no more.

For one readout the whole matrix, the largest of a network, is read from memory, and reading it is most of a step of
greedy search, which asks for one number of K: the place of the largest logit. `Screen` reads a quarter of it, the
matrix in 8-bit integers, which tells how large and how small each logit can be; only those that could be the largest
are then computed. Many readouts share the reading, so that they gain nothing by it.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

_FloatArray = NDArray[np.float32]

_LEVELS = 127
_TINY = float(np.finfo(np.float32).tiny)
_MOST = 500
"""Logits that are computed one by one; where more could be the largest, all are."""


class OutputLayer:
    """W_o t + b_o of a network in use; its weights must not change afterwards."""

    def __init__(self, layer: nn.Linear) -> None:
        """Lay the matrix out."""
        self.weight, self.bias = layer.weight.detach().t().contiguous(), layer.bias.detach()
        """(l, K) and (K,)."""
        # Matrices of one row are multiplied wrongly (torch 2.13, `_int_mm`).
        screens = len(self.weight) > 1 and multiplies_bytes(self.bias.device)
        self._screen = Screen(layer.weight.detach(), self.bias) if screens else None

    def logits(self, readouts: Tensor) -> Tensor:
        """W_o t + b_o: (R, l) to (R, K)."""
        return torch.addmm(self.bias, readouts, self.weight)

    def log_probabilities(self, readouts: Tensor) -> Tensor:
        """Return log p(y_i), at most 0: (R, l) to (R, K)."""
        return torch.log_softmax(self.logits(readouts), -1)

    def likeliest(self, readouts: Tensor, first: int) -> list[int]:
        """Return the likeliest piece after each of the `readouts` (R, l), among those with ids from `first` on."""
        if self._screen is not None and len(readouts) == 1:
            place = self._screen.largest(readouts[0].numpy(), first)
            if place is not None:
                return [place]
        logits = self.logits(readouts)
        logits[:, :first] = float("-inf")
        # NumPy looks for the largest of float32 numbers ten times as fast as torch does.
        found: list[int] = (logits.numpy() if logits.device.type == "cpu" else logits).argmax(1).tolist()
        return found


class Screen:
    """A matrix W (K, l) with a bias b (K,), and what finds the largest number of W t + b without computing it.

    Both factors are rounded to 8-bit integers times a scale, row by row for the matrix: w_k = s_k q_k + d_k, and
    t = u p + e. By Cauchy and Schwarz, s_k u (q_k . p) + b_k is off by at most |d_k| |t| + |s_k q_k| |e|.
    """

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        """Round the matrix, which must not change afterwards; both are in the processor's memory, in float32."""
        self.weight, self.bias = weight.numpy(), bias.numpy()
        scales = weight.abs().amax(1).clamp_min(_TINY) / _LEVELS
        rounded = (weight / scales[:, None]).round_()
        self.integers = rounded.to(torch.int8).t()
        """(l, K)."""
        self.scales: _FloatArray = scales.numpy()
        rounded.mul_(scales[:, None])
        lengths = rounded.norm(dim=1)
        self.lengths: _FloatArray = lengths.numpy()
        """|s_k q_k|, (K,)."""
        lost = (weight - rounded).norm(dim=1) / lengths.clamp_min(_TINY)
        # Float32 rounds as well, here and in the product that this stands for.
        self.lost = float(lost.max()) + 2 * weight.shape[1] * torch.finfo(weight.dtype).eps
        """|d_k| / |s_k q_k| at most."""

    def largest(self, vector: _FloatArray, first: int) -> int | None:
        """Return the place of the largest number of W t + b from `first` on, given t, the `vector` (l,).

        Return None where more than a few could be it.
        """
        unit = max(float(np.abs(vector).max()) / _LEVELS, _TINY)
        integers = torch.from_numpy(np.rint(vector / unit).astype(np.int8))
        estimates = torch._int_mm(integers[None], self.integers)[0].numpy().astype(np.float32)
        estimates *= self.scales
        estimates *= unit
        estimates += self.bias
        # No number of the vector is off by more than half a unit.
        error = self.lengths * (self.lost * float(np.linalg.norm(vector)) + unit * math.sqrt(len(vector)) / 2)
        estimates[:first] = -np.inf
        least = (estimates - error).max()
        estimates += error
        places = np.flatnonzero(estimates >= least)
        if not 0 < len(places) <= _MOST:
            return None
        return int(places[(self.weight[places] @ vector + self.bias[places]).argmax()])


def multiplies_bytes(device: torch.device) -> bool:
    """Return whether `device` is a processor that multiplies 8-bit integers faster than float32 numbers, exactly."""
    able = torch.cpu.get_capabilities() if device.type == "cpu" else {}
    return bool(able.get("avx512_vnni") or able.get("avx_vnni"))
