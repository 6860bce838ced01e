"""Select sentences and their hypotheses from batched tensors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor


def selected(parts: Iterable[Tensor], sentences: Sequence[int], hypotheses: Sequence[Sequence[int]]) -> list[Tensor]:
    """Return these `sentences` of each of `parts` (S, k, ...), and of each its `hypotheses`, by their indices."""
    parts = list(parts)
    count, width = parts[0].shape[:2]
    flat = [row * width + index for row, chosen in zip(sentences, hypotheses, strict=True) for index in chosen]
    if flat == list(range(count * width)):
        return parts
    index = torch.tensor(flat, device=parts[0].device)
    shape = len(sentences), -1
    return [part.flatten(0, 1).index_select(0, index).unflatten(0, shape) for part in parts]
