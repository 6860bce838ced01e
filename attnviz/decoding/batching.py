"""Group sentences into batches of similar length, and pad them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.text import PAD


def batches(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Return the indices of the sentences of each batch, of similar `lengths` in pieces, longest first.

    A batch has at most `most` pieces, padding included; a longer sentence is a batch of its own.
    """
    groups: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if groups and (len(groups[-1]) + 1) * lengths[index] <= most:
            groups[-1].append(index)
        else:
            groups.append([index])
    return [batch[::-1] for batch in groups]


def padded(sentences: Sequence[Any]) -> Tensor:
    """Return B sequences of ids as one int64 tensor (B, longest), filled with PAD."""
    rows = np.full((len(sentences), max(map(len, sentences))), PAD, dtype=np.int64)
    for row, ids in zip(rows, sentences, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(rows)
