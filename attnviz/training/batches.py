"""Group sentence pairs into batches and pad them.

Batches depend only on the seed and the epoch, so a position in the data is two numbers: epoch and batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attnviz.text import BOS, PAD
from attnviz.training.corpus import Corpus

_POOL = 100_000
"""Pairs sorted by length at a time: enough for buckets of similar length; the order still differs between epochs."""


@dataclass(frozen=True)
class Batch:
    """Padded ids of a batch of B pairs."""

    source: Tensor
    """Source ids, (B, Tx), int64 like all tensors here."""
    source_lengths: Tensor
    """Number of pieces of each source sentence, (B,)."""
    previous: Tensor
    """y_{i-1}: BOS, then the target without its last piece, (B, Ty)."""
    target: Tensor
    """y_i, followed by PAD, (B, Ty)."""

    @property
    def target_tokens(self) -> int:
        """Number of target pieces, without padding."""
        return int((self.target != PAD).sum())

    def to(self, device: torch.device) -> Batch:
        """Return the batch on `device`."""
        return Batch(
            *(
                getattr(self, name).to(device, non_blocking=True)
                for name in ("source", "source_lengths", "previous", "target")
            )
        )


def epoch_batches(corpus: Corpus, batch_tokens: int, seed: int, epoch: int) -> list[NDArray[np.int64]]:
    """Return the batches of an epoch, in order: for each an array (B,) of indices of pairs in `corpus`.

    A pair of weight w appears floor(w) times and once more with probability w - floor(w). Pairs of similar length share
    a batch. A batch has as many pairs as keep (pairs) x (longest side) within `batch_tokens`, but at least one.
    """
    random = np.random.default_rng([seed, epoch])
    copies = np.floor(corpus.weights + random.random(len(corpus), dtype=np.float32)).astype(np.int64)
    order = random.permutation(np.repeat(np.arange(len(corpus)), copies))
    source, target = corpus.source_lengths, corpus.target_lengths
    batches = []
    for start in range(0, len(order), _POOL):
        pool = order[start : start + _POOL]
        pool = pool[np.lexsort((source[pool], target[pool]))]
        batches += _cut(pool, np.maximum(source[pool], target[pool]), batch_tokens)
    return [batches[i] for i in random.permutation(len(batches))]


def _cut(pairs: NDArray[np.int64], lengths: NDArray[np.int64], batch_tokens: int) -> list[NDArray[np.int64]]:
    """Split `pairs`, sorted by length, into batches of at most `batch_tokens` padded, or of one pair."""
    cuts, first, longest = [0], 0, 0
    for place, length in enumerate(lengths.tolist()):
        longest = max(longest, length)
        if place > first and (place + 1 - first) * longest > batch_tokens:
            cuts.append(place)
            first, longest = place, length
    return [pairs[a:b] for a, b in zip(cuts, [*cuts[1:], len(pairs)], strict=True) if b > a]


def make_batch(corpus: Corpus, indices: NDArray[np.int64]) -> Batch:
    """Return the padded tensors of the pairs at `indices` (B,) in `corpus`."""
    source, lengths = _rows(corpus.source, corpus.source_starts, indices)
    target, _ = _rows(corpus.target, corpus.target_starts, indices)
    previous = torch.cat([torch.full((len(target), 1), BOS), target[:, :-1]], dim=1)
    return Batch(source, lengths, previous, target)


def _rows(ids: NDArray[np.int32], starts: NDArray[np.int64], indices: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
    """Return sentences as int64 rows (B, longest) filled with PAD, and their lengths (B,)."""
    first = starts[indices]
    lengths = starts[indices + 1] - first
    places = np.arange(lengths.max())
    rows = ids[np.minimum(first[:, None] + places, len(ids) - 1)].astype(np.int64)
    rows[places >= lengths[:, None]] = PAD
    return torch.from_numpy(rows), torch.from_numpy(lengths)
