"""`Validation`: measure a translator's loss and BLEU during training, and save its attention in fixed sentences."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sacrebleu
import torch
from tqdm import tqdm

from attnviz.errors import AttnvizError
from attnviz.model_folder import TRAINED_MODEL
from attnviz.network import Trainable
from attnviz.pair_files import Pair, read_pairs
from attnviz.text import Tokenizer
from attnviz.trace.snapshots import FOLDER, Sentence, Snapshots
from attnviz.training.encoded_pairs import encode_pairs, epoch_batches, make_batch, parse_weighted
from attnviz.training.objective import Objective
from attnviz.training.training_config import TrainingConfig
from attnviz.translator import Translator

_BATCH_TOKENS = 4000

_COUNT, _WORDS = 10, range(5, 15)
"""Number of validation pairs used where no sentences are given, and the preferred numbers of words of both sides."""


def fixed_pairs(config: TrainingConfig, validation: Sequence[Pair]) -> list[Pair]:
    """Return the pairs of a run's snapshots: the configured ones, or a fixed draw of short ones from `validation`.

    Raise AttnvizError where a configured one has no translation.
    """
    named = [tuple(entry.split("\t")) for entry in config.snapshot_sentences]
    for entry, sides in zip(config.snapshot_sentences, named, strict=True):
        if len(sides) != 2 or not all(side.strip() for side in sides):
            raise AttnvizError(f"The snapshot sentence {entry!r} does not have the form source<TAB>translation.")
    if named:
        return [(source, target) for source, target in named]
    drawn = [validation[i] for i in np.random.default_rng(0).permutation(len(validation))]
    # Pairs of suitable length come first, then the others by length.
    drawn.sort(key=lambda pair: 0 if all(len(side.split()) in _WORDS for side in pair) else len(" ".join(pair)))
    return drawn[:_COUNT]


def take_snapshot(translator: Translator, pairs: Sequence[Pair], update: int, name: str, guidance: float) -> Snapshots:
    """Return the snapshot after `update` updates of the run `name`.

    It has alpha for each of `pairs` by forced decoding, and translations of their sources by greedy search.
    """
    traces = [translator.translate(source, target=target) for source, target in pairs]
    sentences = tuple(
        Sentence(source, target, trace.source_pieces, trace.target_pieces)
        for (source, target), trace in zip(pairs, traces, strict=True)
    )
    translations = tuple(translator.translate_batch([source for source, _ in pairs], beam=1))
    alignments = tuple(trace.alignment[None] for trace in traces)
    return Snapshots(name, guidance, (update,), sentences, alignments, (translations,), {}, {}, {})


@dataclass(frozen=True)
class Measurement:
    """Result of a validation of a translator."""

    loss: float
    """Negative log likelihood per target piece, in nats."""
    bleu: float
    """sacreBLEU of greedy translations of some pairs; nan where none are translated."""

    @property
    def score(self) -> float:
        """Value that training minimises: minus BLEU, or the loss where nothing is translated."""
        return self.loss if np.isnan(self.bleu) else -self.bleu

    @property
    def columns(self) -> dict[str, float]:
        """Values by column of the log."""
        return {"validation_loss": self.loss, "validation_bleu": self.bleu}

    def __str__(self) -> str:
        """Return the values in words."""
        return f"validation loss {self.loss:.4f}, BLEU {self.bleu:.2f}"


def validation_pairs(config: TrainingConfig) -> list[Pair]:
    """Return the pairs of all validation files within `max_words`; raise AttnvizError where there are none."""
    paths = [parse_weighted(entry)[0] for entry in config.validation]
    pairs = list[Pair]()
    for path in paths:
        read = read_pairs(path, skip_malformed=config.skip_malformed)
        pairs += read.pairs
        if read.skipped:
            tqdm.write(f"{path}: {len(read.skipped)} lines skipped", file=sys.stderr)
    pairs = [pair for pair in pairs if max(len(side.split()) for side in pair) <= config.max_words]
    if not pairs:
        raise AttnvizError(f"No validation pair has at most {config.max_words} words on both sides. Raise max_words.")
    return pairs


class Validation:
    """Validation pairs and fixed snapshot sentences of a run."""

    def __init__(self, config: TrainingConfig, tokenizer: Tokenizer, device: torch.device) -> None:
        self.config, self.tokenizer, self.device = config, tokenizer, device
        self.pairs = validation_pairs(config)
        # A fixed sample over all files, so that BLEU represents the mixture.
        drawn = np.random.default_rng(0).permutation(len(self.pairs))[: config.bleu_sentences]
        self.translated = [self.pairs[i] for i in drawn]
        self.corpus = encode_pairs(self.pairs, [1.0] * len(self.pairs), tokenizer)
        self.snapshots = Path(config.output) / TRAINED_MODEL / FOLDER
        self.fixed = fixed_pairs(config, self.pairs) if config.snapshots else []

    @torch.inference_mode()
    def measure(self, network: Trainable) -> Measurement:
        """Return loss and BLEU of `network`, which is in evaluation mode."""
        objective, likelihood, tokens = Objective(network, 0.0), 0.0, 0
        # Longest sentences first: their attention takes most memory, and later batches reuse those blocks.
        longest = self.corpus.target_lengths
        for indices in sorted(epoch_batches(self.corpus, _BATCH_TOKENS, 0, 0), key=lambda batch: -longest[batch].max()):
            batch = make_batch(self.corpus, indices).to(self.device)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.precision == "bf16"):
                likelihood += float(objective(batch)[1])
            tokens += batch.target_tokens
        return Measurement(likelihood / max(1, tokens), self._bleu(network))

    def _bleu(self, network: Trainable) -> float:
        if not self.translated:
            return float("nan")
        outputs = Translator(network, self.tokenizer).translate_batch([source for source, _ in self.translated], beam=1)
        return float(sacrebleu.corpus_bleu(outputs, [[target for _, target in self.translated]]).score)

    def snapshot(self, network: Trainable, update: int) -> None:
        """Write the attention in the fixed sentences to `snapshots/<update>.json`."""
        if self.config.snapshots == 0:
            return
        was_training = network.training
        translator = Translator(network.eval(), self.tokenizer)
        name = Path(self.config.output).resolve().name
        snapshots = take_snapshot(translator, self.fixed, update, name, self.config.guidance)
        network.train(was_training)
        self.snapshots.mkdir(parents=True, exist_ok=True)
        snapshots.save(self.snapshots / f"{update:06d}.json")
