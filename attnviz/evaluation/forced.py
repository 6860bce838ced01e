"""Forced decoding of many sentence pairs at once: attention, log likelihood, perplexity, and bits per character."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from attnviz.decoding import batches, padded
from attnviz.text import BOS, EOS, PAD, normalise
from attnviz.translator import Translator

_BATCH_PIECES = 2000
"""Target pieces of a batch, padding included: their logits take 64 MB at a vocabulary of 8,000."""

Advance = Callable[[int], object]
"""Called with the number of sentences just finished."""


@dataclass(frozen=True)
class ForcedPair:
    """A sentence pair under forced decoding."""

    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    """Pieces as in the text, without `</s>`: Tx - 1 and Ty - 1 of them."""
    log_likelihood: float
    """Sum over the Ty pieces of the target, `</s>` included, of log p(y_i), in nats."""
    alignment: NDArray[np.float32]
    """alpha, (Ty, Tx); the last column is 0 where the model does not read `</s>`."""


@dataclass(frozen=True)
class Likelihood:
    """Likelihood of given translations under a model."""

    nats: float
    """Negative log likelihood of all of them, in nats."""
    pieces: int
    """Number of target pieces, with a `</s>` for each sentence."""
    characters: int
    """Characters of the normalised targets, counting the end of each as one."""

    @property
    def perplexity(self) -> float:
        """Perplexity per piece, from 1; it compares models with the same tokenizer only."""
        return math.exp(self.nats / self.pieces)

    @property
    def bits_per_character(self) -> float:
        """Cross-entropy in bits per target character; it compares models with any tokenizer."""
        return self.nats / math.log(2) / self.characters


def with_end(alignment: NDArray[np.float32], source: Sequence[int]) -> NDArray[np.float32]:
    """Return an alignment (Ty, Tx) of `source` ids whose last column is `</s>`: 0 where the model does not read it.

    Columns of padding, which the attention of some imported models reaches, and of a leading `<s>` are left out.
    """
    first = int(bool(source) and source[0] == BOS)
    if EOS in source:
        return alignment[:, first : source.index(EOS) + 1]
    return np.pad(alignment[:, first:], ((0, 0), (0, 1)))


@torch.inference_mode()
def force_pairs(
    translator: Translator, pairs: Sequence[tuple[str, str]], progress: Advance | None = None
) -> list[ForcedPair]:
    """Force the decoder to write the target of each (source, target), in batches of similar length."""
    tokenizer = translator.tokenizer
    sides = [
        [vocabulary.sentence(ids) for ids in vocabulary.encode_batch(list(side))]
        for vocabulary, side in zip((tokenizer.source, tokenizer), zip(*pairs, strict=True), strict=False)
    ]
    forced: list[ForcedPair | None] = [None] * len(pairs)
    for places in batches([len(target) for target in sides[1]] if pairs else [], _BATCH_PIECES):
        sources, targets = ([side[place] for place in places] for side in sides)
        likelihoods, alignments = _force(translator, sources, targets)
        for row, place in enumerate(places):
            forced[place] = ForcedPair(
                tokenizer.source.surfaces(pairs[place][0]),
                tokenizer.surfaces(pairs[place][1]),
                likelihoods[row],
                with_end(alignments[row, : len(targets[row]), : len(sources[row])], sources[row]),
            )
        if progress:
            progress(len(places))
    return [pair for pair in forced if pair is not None]


def likelihoods(forced: Iterable[ForcedPair], targets: Iterable[str]) -> list[Likelihood]:
    """Return the likelihood of each pair, given its target text."""
    return [
        Likelihood(-pair.log_likelihood, len(pair.alignment), len(normalise(target)) + 1)
        for pair, target in zip(forced, targets, strict=True)
    ]


def total_likelihood(parts: Iterable[Likelihood]) -> Likelihood:
    """Return the likelihood of all of these together."""
    nats, pieces, characters = zip(*((part.nats, part.pieces, part.characters) for part in parts), strict=True)
    return Likelihood(math.fsum(nats), sum(pieces), sum(characters))


def _force(
    translator: Translator, sources: Sequence[list[int]], targets: Sequence[list[int]]
) -> tuple[list[float], NDArray[np.float32]]:
    """Return the log likelihood of each target, and the alignments (S, Ty, Tx), padded."""
    network, device = translator.network, translator.device
    lengths = torch.tensor([len(source) for source in sources], device=device)
    target = padded(targets).to(device)
    previous = target.roll(1, dims=1)
    previous[:, 0] = BOS
    readouts, alignment = network(padded(sources).to(device), lengths, previous)
    is_piece = target != PAD
    likely = torch.log_softmax(network.output(readouts[is_piece]), -1)
    chosen = torch.zeros(target.shape, device=device)
    chosen[is_piece] = likely.gather(1, target[is_piece][:, None])[:, 0].float()
    # Sum in float64, which not every device supports.
    return chosen.cpu().numpy().sum(1, dtype=np.float64).tolist(), alignment.float().cpu().numpy()
