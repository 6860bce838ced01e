"""Batches, loss, lexicon, exchangeable words and validation for training a detector of translations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attnviz.decoding import padded
from attnviz.network import Decomposable
from attnviz.text import Tokenizer
from attnviz.training.encoded_pairs import BatchTensors, Corpus, encode_pairs, epoch_batches
from attnviz.training.negatives import (
    TRAINED,
    EncodedSentences,
    Exchanges,
    Negatives,
    WordFinder,
    learn_exchanges,
    load_exchanges,
    save_exchanges,
)
from attnviz.training.objective import Lexicon
from attnviz.training.preparation import LEXICON, prepare_guidance
from attnviz.training.training_config import TrainingConfig
from attnviz.training.validation import validation_pairs

EXCHANGES = "exchanges.npz"
"""File in the folder of a run and of the finished model: words that may replace one another."""
TRANSLATION_CLASS = "translation"
"""Kind of an unchanged pair."""

_SAMPLE = 150_000
"""Largest number of pairs from which links and word kinds are learnt."""
_LINKS, _LEAST_SHARE = 4, 0.05
"""Number of counterparts stored for a piece, and the smallest share of its links that each must have."""
_BATCH_TOKENS = 8000
_LEAST_WEIGHT = 1e-9
"""Lower bound on weights inside a logarithm, which keeps it finite."""


@dataclass(frozen=True)
class PairBatch(BatchTensors):
    """Padded ids of B sentence pairs, with labels that say which are translations."""

    source: Tensor
    """Source ids, (B, Tx), int64 like all tensors here."""
    target: Tensor
    """Target ids, (B, Ty)."""
    labels: Tensor
    """1 for a translation, 0 for a negative, (B,)."""


def pair_batch(translations: Sequence[EncodedSentences], others: Sequence[EncodedSentences]) -> PairBatch:
    """Return the padded tensors of `translations`, then of `others`, which are negatives."""
    pairs = [*translations, *others]
    labels = torch.tensor([1] * len(translations) + [0] * len(others))
    return PairBatch(padded([source for source, _ in pairs]), padded([target for _, target in pairs]), labels)


def pairs_at(corpus: Corpus, indices: NDArray[np.int64]) -> list[EncodedSentences]:
    """Return the pairs at `indices` (B,) in `corpus`."""
    return [(corpus.source_sentence(i).tolist(), corpus.target_sentence(i).tolist()) for i in indices]


class DetectorObjective(nn.Module):
    """The detector and its loss, cross-entropy over two classes, as one module."""

    def __init__(self, network: Decomposable, label_smoothing: float, guidance: float = 0.0) -> None:
        super().__init__()
        self.network, self.label_smoothing, self.guidance = network, label_smoothing, guidance

    def forward(self, batch: PairBatch, links: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the loss and the negative log likelihood, in nats, scalars () summed over the pairs.

        The loss is label-smoothed. Given soft `links` (T, Ty, Tx) of the first T pairs, which are translations, it adds
        `guidance` times the mean cross-entropy of a pair's links with both of its alignments.
        """
        judged = self.network(batch.source, batch.target)
        logits = judged.logits.float()
        loss = cross_entropy(logits, batch.labels, reduction="sum", label_smoothing=self.label_smoothing)
        if links is not None:
            count, rows, columns = links.shape
            both = judged.target_alignment[:count, :rows, :columns].clamp_min(_LEAST_WEIGHT).log()
            both = both + judged.source_alignment[:count, :columns, :rows].clamp_min(_LEAST_WEIGHT).log().mT
            surprise = -(links * both).sum((1, 2)) / (2 * links.sum((1, 2))).clamp_min(_LEAST_WEIGHT)
            loss = loss + self.guidance * surprise.sum()
        return loss, cross_entropy(logits.detach(), batch.labels, reduction="sum")


def prepare_lexicon(
    config: TrainingConfig, corpus: Corpus, tokenizer: Tokenizer
) -> tuple[Lexicon, tuple[Exchanges, Exchanges]]:
    """Return the lexicon of piece links, and the exchangeable words of source and target.

    The exchangeable words are learnt from a sample of the pairs in the first call for this output folder, and loaded
    afterwards.
    """
    output, path = Path(config.output), Path(config.output) / EXCHANGES
    if not path.exists() or not (output / LEXICON).exists():
        share = min(1.0, _SAMPLE / corpus.weights.sum())
        drawn = np.random.default_rng(config.seed).random(len(corpus)) < corpus.weights * share
        sample = sub_corpus(corpus, np.flatnonzero(drawn))
        lexicon, finder = prepare_guidance(config, sample, len(tokenizer)), WordFinder(tokenizer)
        pairs = pairs_at(sample, np.arange(len(sample)))
        links = counterparts(lexicon.counts.t()), counterparts(lexicon.counts)
        save_exchanges(path, [learn_exchanges([pair[side] for pair in pairs], finder, links[side]) for side in (0, 1)])
    return prepare_guidance(config, corpus, len(tokenizer)), load_exchanges(path, len(tokenizer))


def sub_corpus(corpus: Corpus, indices: NDArray[np.int64]) -> Corpus:
    """Return the pairs at `indices` (N,) as a corpus of their own, with weight 1 each."""
    flat, starts = [], []
    for sentence, lengths in (
        (corpus.source_sentence, corpus.source_lengths),
        (corpus.target_sentence, corpus.target_lengths),
    ):
        flat.append(np.concatenate([np.zeros(0, np.int32), *(sentence(i) for i in indices)]))
        starts.append(np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[indices])]))
    return Corpus(flat[0], starts[0], flat[1], starts[1], np.ones(len(indices), np.float32))


def counterparts(counts: Tensor) -> NDArray[np.int32]:
    """Return the pieces of the other language that each piece is linked to most, (K, links), -1 where there are fewer.

    `counts` (K, K) has a row for each piece. A counterpart needs a share of at least `_LEAST_SHARE` of the row.
    """
    best, places = counts.topk(min(_LINKS, len(counts)), dim=1)
    frequent = best >= _LEAST_SHARE * counts.sum(1, keepdim=True).clamp_min(1e-9)
    return torch.where(frequent, places, -1).numpy().astype(np.int32)


@dataclass(frozen=True)
class DetectorMeasurement:
    """Result of a validation of a detector."""

    loss: float
    """Cross-entropy per pair over translations and negatives, in nats."""
    accuracy: Mapping[str, float]
    """Accuracy in [0, 1] on translations and on each kind of negative."""

    @property
    def mean(self) -> float:
        """Mean of the accuracy on translations and the mean accuracy over kinds of negatives, in [0, 1]."""
        others = [share for kind, share in self.accuracy.items() if kind != TRANSLATION_CLASS]
        return (self.accuracy[TRANSLATION_CLASS] + sum(others) / max(1, len(others))) / 2

    @property
    def score(self) -> float:
        """Value that training minimises: minus the mean accuracy."""
        return -self.mean

    @property
    def columns(self) -> dict[str, float]:
        """Values by column of the log."""
        return {"validation_loss": self.loss, "validation_accuracy": 100 * self.mean}

    def __str__(self) -> str:
        """Return the values in words."""
        kinds = ", ".join(f"{kind} {100 * share:.1f}" for kind, share in self.accuracy.items())
        return f"validation loss {self.loss:.4f}, accuracy {100 * self.mean:.2f} % ({kinds})"


class DetectorValidation:
    """Validation pairs of a run, each with one negative of every possible kind; the same ones at every validation."""

    def __init__(
        self, config: TrainingConfig, tokenizer: Tokenizer, negatives: Negatives, device: torch.device
    ) -> None:
        self.config, self.device = config, device
        pairs = validation_pairs(config)
        corpus, random = encode_pairs(pairs, [1.0] * len(pairs), tokenizer), np.random.default_rng(0)
        self.batches = []
        for indices in epoch_batches(corpus, _BATCH_TOKENS // (1 + len(TRAINED)), 0, 0):
            block = pairs_at(corpus, indices)
            made = [
                (kind, pair)
                for kind in TRAINED
                for place in range(len(block))
                if (pair := negatives.make(kind, block, place, random))
            ]
            kinds = [TRANSLATION_CLASS] * len(block) + [kind for kind, _ in made]
            self.batches.append((pair_batch(block, [pair for _, pair in made]), np.array(kinds)))

    @torch.inference_mode()
    def measure(self, network: Decomposable) -> DetectorMeasurement:
        """Return the result of `network`, which is in evaluation mode, on all pairs."""
        total, right, kinds = 0.0, [], []
        for batch, batch_kinds in self.batches:
            inputs = batch.to(self.device)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.precision == "bf16"):
                logits = network(inputs.source, inputs.target).logits.float()
            total += float(cross_entropy(logits, inputs.labels, reduction="sum"))
            right.append((logits.argmax(1) == inputs.labels).cpu().numpy())
            kinds.append(batch_kinds)
        judged, names = np.concatenate(right), np.concatenate(kinds)
        accuracy = {
            name: float(judged[names == name].mean()) for name in (TRANSLATION_CLASS, *TRAINED) if name in names
        }
        return DetectorMeasurement(total / len(names), accuracy)

    def snapshot(self, network: Decomposable, update: int) -> None:
        """Do nothing: only translators have snapshots of alignments."""
