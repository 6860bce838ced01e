"""The output layer in use: the probabilities of all pieces after many readouts, or the likeliest piece of each."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from attnviz.network.products import FixedProduct

_MANY = 8
"""Readouts from which on it pays to compute coarse logits first."""
_FEW = 16
"""Pieces per readout, on average, up to which exact logits of single ones pay."""
_ROUNDING = 2**-8
"""Most by which a number is off that is rounded to bfloat16, as a share of it."""


class OutputLayer:
    """W_o t + b_o of a network in use; its weights must not change afterwards."""

    def __init__(self, layer: nn.Linear) -> None:
        """Lay the matrix out."""
        self.weight, self.bias = layer.weight.detach(), layer.bias.detach()
        """(K, l) and (K,)."""
        self.logits = FixedProduct(self.weight, self.bias)
        """W_o t + b_o: (R, l) to (R, K)."""
        self.coarse = self.weight.bfloat16() if _sifts(self.weight) else None
        # A weight, a readout and their sum are rounded to bfloat16, what is summed to float32; and by Cauchy-Schwarz
        # the sum of |w_i t_i| is at most |w||t|.
        share = (1 + _ROUNDING) ** 3 * (1 + 2**-23 * self.weight.shape[1]) - 1
        self.off = share * self.weight.norm(dim=1).max()
        """Most by which a coarse logit differs from the exact one, as a multiple of |t|."""

    def log_probabilities(self, readouts: Tensor) -> Tensor:
        """Return log p(y_i), at most 0: (R, l) to (R, K)."""
        return torch.log_softmax(self.logits(readouts), -1)

    def likeliest(self, readouts: Tensor, first: int) -> list[int]:
        """Return the likeliest piece after each of the `readouts` (R, l), among those with ids from `first` on."""
        sifted = self._sifted(readouts, first) if len(readouts) >= _MANY else None
        return largest_logit(self.logits(readouts), first) if sifted is None else sifted

    def _sifted(self, readouts: Tensor, first: int) -> list[int] | None:
        """Return what `likeliest` does, computing in float32 only the logits of pieces that may be the likeliest: those
        whose coarse logit is no further from the largest than both may be off. None where that does not pay."""
        if self.coarse is None:
            return None
        coarse = linear(readouts.bfloat16(), self.coarse).float().add_(self.bias).numpy()[:, first:]
        off = (self.off * readouts.norm(dim=1, keepdim=True)).numpy()
        least = coarse.max(1, keepdims=True) - 2 * off
        rows, pieces = np.divmod(np.flatnonzero(coarse >= least), coarse.shape[1])
        if not np.isfinite(least).all() or len(rows) > _FEW * len(readouts):
            return None
        pieces += first
        # NumPy's, which wakes no threads for a few products.
        logits = np.einsum("ri,ri->r", readouts.numpy()[rows], self.weight.numpy()[pieces]) + self.bias.numpy()[pieces]
        best_first = np.lexsort((-logits, rows))
        found: list[int] = pieces[best_first][np.unique(rows, return_index=True)[1]].tolist()
        return found


def largest_logit(logits: Tensor, first: int) -> list[int]:
    """Return the column of the largest in each row of `logits` (R, K), among those from `first` on."""
    allowed = logits[:, first:]
    # NumPy looks for the largest of float32 numbers ten times as fast as torch does.
    found: list[int] = ((allowed.numpy() if allowed.device.type == "cpu" else allowed).argmax(1) + first).tolist()
    return found


def _sifts(weight: Tensor) -> bool:
    """Return whether a product with `weight` is much cheaper in bfloat16, as on processors with instructions for it."""
    able = torch.cpu.get_capabilities()
    return weight.device.type == "cpu" and bool(able.get("avx512_bf16") or able.get("amx_bf16"))
