"""`Lexicon`: learn soft links between pieces from the sentence pairs, as a training target for attention.

The links come from two word-translation models, one in each direction, that are trained to agree (Liang, Taskar & Klein
2006): IBM Model 1 with a preference for the diagonal (Dyer, Chahuneau & Smith 2013). Both follow from one table of
joint counts, which is all that is stored.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from attnviz.errors import AttnvizError
from attnviz.files import DAMAGED, replacing
from attnviz.text import PAD
from attnviz.training.batches import Batch, epoch_batches, make_batch
from attnviz.training.corpus import Corpus

ROUNDS = 5
"""Passes over the pairs; links change little after the fourth."""
_BATCH_TOKENS = 20_000
_DIAGONAL = 4.0
"""Strength of the preference for the diagonal, in nats over the length of the sentence."""
_UNLINKED = 0.08
"""Expected share of pieces without a counterpart."""
_UNSEEN = 1e-7
"""Probability of two pieces that never occur together."""


class Lexicon:
    """Expected counts of source and target pieces that translate one another."""

    def __init__(self, counts: Tensor) -> None:
        """Store expected `counts` (K, K) over the corpus, target pieces in rows and source pieces in columns."""
        self.counts = counts
        total = counts.sum()
        self._by_source = counts.sum(0).clamp_min(1e-9)
        self._by_target = counts.sum(1).clamp_min(1e-9)
        self._target_share, self._source_share = self._by_target / total, self._by_source / total

    def to(self, device: torch.device) -> Lexicon:
        """Return the lexicon on `device`, for batches there."""
        return Lexicon(self.counts.to(device))

    def links(self, batch: Batch) -> Tensor:
        """Return soft links (B, Ty, Tx) in [0, 1], the product of the link probabilities of both directions.

        Entry ij is the probability that target piece i and source piece j translate one another. Rows and columns sum
        to at most 1; padding has no links.
        """
        source, target = batch.source, batch.target
        joint = self.counts.view(-1)[target[:, :, None] * len(self.counts) + source[:, None, :]]
        prior = _prior(batch)
        by_target = self._by_target[target][:, :, None]
        by_source = self._by_source[source][:, None, :]
        # p(target piece | source piece), then p(source piece | target piece); denominators include "no counterpart".
        forward = (joint / by_source + _UNSEEN) * prior
        forward /= forward.sum(2, keepdim=True) + self._unlinked(self._target_share[target])[:, :, None]
        backward = (joint / by_target + _UNSEEN) * prior
        backward /= backward.sum(1, keepdim=True) + self._unlinked(self._source_share[source])[:, None, :]
        return forward.mul_(backward)

    @staticmethod
    def _unlinked(share: Tensor) -> Tensor:
        return _UNLINKED / (1 - _UNLINKED) * share + _UNSEEN

    @classmethod
    def learn(cls, corpus: Corpus, vocabulary_size: int, seed: int, device: torch.device | str = "cpu") -> Lexicon:
        """Return the lexicon of the pairs of one epoch, by expectation maximisation on `device`.

        It needs memory for two K x K float32 tables: the counts of the last round and of the current one.
        """
        batches = epoch_batches(corpus, _BATCH_TOKENS, seed, 0)
        lexicon = cls(torch.ones(vocabulary_size, vocabulary_size, device=device))
        for _ in tqdm(range(ROUNDS), unit="round", desc="word links"):
            counts = torch.zeros(vocabulary_size * vocabulary_size, device=device)
            for batch in (make_batch(corpus, indices).to(counts.device) for indices in batches):
                cells = batch.target[:, :, None] * vocabulary_size + batch.source[:, None, :]
                # On the CPU index_add_ sums in one thread and in order, so every run gets the same counts; on a GPU
                # the order varies, and with it the last digits.
                counts.index_add_(0, cells.view(-1), lexicon.links(batch).view(-1))
            lexicon = cls(counts.view(vocabulary_size, vocabulary_size))
        return lexicon

    def save(self, path: Path) -> None:
        """Write the counts to `path` (.npy) atomically."""
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.save(file, self.counts.cpu().numpy())

    @classmethod
    def load(cls, path: Path, vocabulary_size: int) -> Lexicon:
        """Return what `save` wrote for `vocabulary_size` pieces; processes of one machine share the memory-mapped file.

        Raise AttnvizError, naming the file, where it is damaged or for another vocabulary.
        """
        try:
            counts = np.load(path, mmap_mode="c", allow_pickle=False)
            if counts.dtype != np.float32 or counts.shape != (vocabulary_size, vocabulary_size):
                raise ValueError("it is of another kind or size")
        except DAMAGED as error:
            message = f"The word links {path} are damaged ({error}). Delete the file to have them learnt again."
            raise AttnvizError(message) from error
        return cls(torch.from_numpy(counts))


def _prior(batch: Batch) -> Tensor:
    """Return the closeness of each cell to the diagonal, (B, Ty, Tx), 0 for padding; rows sum to 1."""
    target_mask, source_mask = batch.target != PAD, batch.source != PAD
    device = batch.target.device
    down = torch.arange(batch.target.shape[1], device=device) / target_mask.sum(1, keepdim=True)
    across = torch.arange(batch.source.shape[1], device=device) / source_mask.sum(1, keepdim=True)
    nearness = torch.exp(-_DIAGONAL * (down[:, :, None] - across[:, None, :]).abs())
    nearness = nearness * target_mask[:, :, None] * source_mask[:, None, :]
    return nearness / nearness.sum(2, keepdim=True).clamp_min(1e-9)
