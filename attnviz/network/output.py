"""The output layer for decoding: probabilities of all pieces, or the likeliest piece of each readout."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.network.products import ByteProduct, FixedProduct, choose_coarse_precision

_MANY = 8
"""Number of readouts from which computing coarse logits first pays off."""
_FEW = 16
"""Average number of candidate pieces of a readout up to which exact logits of single pieces pay off."""


class OutputLayer:
    """W_o t + b_o for decoding; the weights must not change afterwards."""

    def __init__(self, layer: nn.Linear) -> None:
        """Lay out the matrix."""
        self.weight, self.bias = layer.weight.detach(), layer.bias.detach()
        """W_o, (K, l), and b_o, (K,)."""
        self.logits = FixedProduct(self.weight, self.bias)
        """W_o t + b_o: (R, l) to (R, K)."""
        self.set_precision("auto")

    def set_precision(self, wanted: str) -> None:
        """Choose whether 8 bits select candidate pieces: "int8", "fp32", or "auto" for the faster one here."""
        self._has_coarse = choose_coarse_precision(wanted, self.weight.device) == "int8"
        self._coarse: ByteProduct | None = None

    @property
    def coarse(self) -> ByteProduct | None:
        """W_o t + b_o in 8 bits, which selects candidate pieces; None where that would be slower.

        It is made at its first use, for a batch: a single sentence does not need it.
        """
        if self._has_coarse and self._coarse is None:
            self._coarse = ByteProduct(self.weight, self.bias)
        return self._coarse

    def log_probabilities(self, readouts: Tensor) -> Tensor:
        """Return log p(y_i), at most 0: (R, l) to (R, K)."""
        return torch.log_softmax(self.logits(readouts), -1)

    def likeliest(self, readouts: Tensor, first: int, also: int | None = None) -> list[int]:
        """Return the likeliest id for each of the `readouts` (R, l), among ids from `first` on and `also`."""
        likeliest = self._likeliest_by_coarse(readouts, first) if len(readouts) >= _MANY and also is None else None
        return largest_logit(self.logits(readouts), first, also) if likeliest is None else likeliest

    def _likeliest_by_coarse(self, readouts: Tensor, first: int) -> list[int] | None:
        """Return what `likeliest` does, with exact float32 logits only for pieces that may be the likeliest.

        These are the pieces whose coarse logit is within the error bound of the largest. Return None where that does
        not pay off.
        """
        if self.coarse is None:
            return None
        product, error = self.coarse(readouts)
        coarse = product.numpy()[:, first:]
        least = coarse.max(1, keepdims=True) - 2 * error.numpy()
        rows, pieces = np.divmod(np.flatnonzero(coarse >= least), coarse.shape[1])
        if not np.isfinite(least).all() or len(rows) > _FEW * len(readouts):
            return None
        pieces += first
        # torch would wake its threads for a few products; NumPy does not.
        logits = np.einsum("ri,ri->r", readouts.numpy()[rows], self.weight.numpy()[pieces]) + self.bias.numpy()[pieces]
        best_first = np.lexsort((-logits, rows))
        likeliest: list[int] = pieces[best_first][np.unique(rows, return_index=True)[1]].tolist()
        return likeliest


def largest_logit(logits: Tensor, first: int, also: int | None = None) -> list[int]:
    """Return the column of the largest of each row of `logits` (R, K), among columns from `first` on and `also`."""
    allowed = logits[:, first:]
    # NumPy's argmax of float32 is ten times as fast as torch's on the CPU.
    columns: list[int] = ((allowed.numpy() if allowed.device.type == "cpu" else allowed).argmax(1) + first).tolist()
    if also is None:
        return columns
    larger = (logits[:, also] > logits.gather(1, torch.tensor(columns, device=logits.device)[:, None])[:, 0]).tolist()
    return [also if above else column for above, column in zip(larger, columns, strict=True)]
