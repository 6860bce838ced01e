"""Sentence pairs as flat arrays of ids with weights: encode, save and load them, and group them into batches.

Batches depend only on the seed and the epoch, so a position in the data is two numbers: epoch and batch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.files import DAMAGED, replacing
from attnviz.pair_files import Pair
from attnviz.text import BOS, EOS, PAD, Tokenizer

_BLOCK = 20_000


def parse_weighted(entry: str) -> tuple[Path, float]:
    """Split `PATH=WEIGHT` into path and weight, 1 where none is given; raise AttnvizError for an invalid weight."""
    path, mark, weight = entry.rpartition("=")
    if not mark:
        return Path(entry), 1.0
    try:
        value = float(weight)
    except ValueError:
        return Path(entry), 1.0
    if not 0 < value <= 100:
        raise AttnvizError(f"The weight of {path} must be above 0 and at most 100, not {weight}.")
    return Path(path), value


@dataclass(frozen=True)
class Corpus:
    """N encoded sentence pairs.

    Source sentence k is `source[source_starts[k]:source_starts[k + 1]]`, with `</s>` last; the target likewise.
    """

    source: NDArray[np.int32]
    """Ids of all source sentences, concatenated, (pieces,)."""
    source_starts: NDArray[np.int64]
    """Start of each sentence, then the end of the last, (N + 1,)."""
    target: NDArray[np.int32]
    target_starts: NDArray[np.int64]
    weights: NDArray[np.float32]
    """Mean number of times an epoch uses each pair, (N,)."""

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.weights)

    @property
    def source_lengths(self) -> NDArray[np.int64]:
        """Pieces of each source sentence, with `</s>`, (N,)."""
        return np.diff(self.source_starts)

    @property
    def target_lengths(self) -> NDArray[np.int64]:
        """Pieces of each target sentence, with `</s>`, (N,)."""
        return np.diff(self.target_starts)

    def source_sentence(self, index: int) -> NDArray[np.int32]:
        """Return the ids of source sentence `index`, (Tx,)."""
        return self.source[self.source_starts[index] : self.source_starts[index + 1]]

    def target_sentence(self, index: int) -> NDArray[np.int32]:
        """Return the ids of target sentence `index`, (Ty,)."""
        return self.target[self.target_starts[index] : self.target_starts[index + 1]]

    def save(self, path: Path) -> None:
        """Write the arrays to `path` (.npz) atomically."""
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(
                file,
                source=self.source,
                source_starts=self.source_starts,
                target=self.target,
                target_starts=self.target_starts,
                weights=self.weights,
            )

    @classmethod
    def load(cls, path: Path, vocabulary_size: int) -> Corpus:
        """Return the corpus that `save` wrote.

        Raise AttnvizError, naming the file, where it is damaged or has ids of a vocabulary larger than
        `vocabulary_size`.
        """
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                corpus = cls(**arrays)
            corpus.check(vocabulary_size)
        except DAMAGED as error:
            raise AttnvizError(
                f"The prepared corpus {path} is damaged ({error}). Delete this file: attnviz then makes it again "
                "from the training files."
            ) from error
        return corpus

    def check(self, vocabulary_size: int) -> None:
        """Raise ValueError or TypeError unless the arrays are consistent and all ids are below `vocabulary_size`."""
        if self.weights.dtype != np.float32 or self.weights.ndim != 1 or not (self.weights > 0).all():
            raise ValueError("its weights are not positive numbers")
        for ids, starts in ((self.source, self.source_starts), (self.target, self.target_starts)):
            if ids.dtype != np.int32 or starts.dtype != np.int64 or ids.ndim != 1 or starts.shape != (len(self) + 1,):
                raise ValueError("its arrays are of other kinds or sizes")
            if starts[0] != 0 or starts[-1] != len(ids) or (np.diff(starts) < 1).any():
                raise ValueError("its sentences do not begin where they should")
            if ids.min() < 0 or ids.max() >= vocabulary_size:
                raise ValueError(f"it is of another tokenizer, one of more than {vocabulary_size} pieces")


def encode_pairs(pairs: Sequence[Pair], weights: Sequence[float], tokenizer: Tokenizer) -> Corpus:
    """Return N `pairs`, with as many `weights`, as ids; each sentence ends with EOS."""
    flat, starts = [], []
    for side in (0, 1):
        ids, lengths = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
        # One block at a time: as Python integers the ids would take ten times the memory.
        for first in range(0, len(pairs), _BLOCK):
            sentences = tokenizer.encode_batch([pair[side] for pair in pairs[first : first + _BLOCK]])
            lengths.append(np.array([len(each) + 1 for each in sentences], dtype=np.int64))
            ids.append(np.fromiter((i for each in sentences for i in (*each, EOS)), dtype=np.int32))
        flat.append(np.concatenate(ids))
        starts.append(np.cumsum(np.concatenate(lengths)))
    return Corpus(flat[0], starts[0], flat[1], starts[1], np.asarray(weights, dtype=np.float32))


_POOL = 100_000
"""Pairs sorted by length at a time: enough for buckets of similar length; the order still differs between epochs."""


@dataclass(frozen=True)
class BatchTensors:
    """Base of batches; all fields are tensors."""

    def to(self, device: torch.device) -> Self:
        """Return the batch on `device`."""
        names = (field.name for field in dataclasses.fields(self))
        return type(self)(*(getattr(self, name).to(device, non_blocking=True) for name in names))


@dataclass(frozen=True)
class Batch(BatchTensors):
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
