"""The tasks that the training loop serves, translation and detection: batches, objective and validation of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from attnviz.network import Decomposable
from attnviz.text import Tokenizer
from attnviz.training.detection import (
    EXCHANGES,
    DetectorObjective,
    DetectorValidation,
    pair_batch,
    pairs_at,
    prepare_lexicon,
)
from attnviz.training.encoded_pairs import Corpus, make_batch
from attnviz.training.negatives import Negatives, save_exchanges
from attnviz.training.objective import Lexicon, Objective
from attnviz.training.preparation import prepare_guidance
from attnviz.training.training_config import TrainingConfig
from attnviz.training.validation import Validation

Inputs = tuple[tuple[Any, ...], int]


@torch.no_grad()
def initialise_embeddings(network: Decomposable, lexicon: Lexicon) -> None:
    """Set the first embeddings of `network`, which has random weights, by the links of `lexicon` over the same pieces.

    The first half of a piece's embedding, its vector as a source piece, stays random and so is nearly orthogonal to all
    others. The second half, its vector as a target piece, becomes the mean vector of the source pieces it is linked to,
    weighted by counts and scaled to the mean length; without links it is its own source vector. Each projection starts
    by reading only the half of its language, and both use the same weights. An odd unit stays unchanged.
    """
    half = network.config.embedding_size // 2
    if not half:
        return
    rows = network.embedding.weight
    source, counts = rows[:, :half].clone(), lexicon.counts
    mean = counts @ source
    lengths = source.norm(dim=1, keepdim=True)
    scaled = mean * (lengths.mean() / mean.norm(dim=1, keepdim=True).clamp_min(1e-30))
    rows[:, half : 2 * half] = torch.where(counts.sum(1, keepdim=True) > 0, scaled, source)
    source_weight, target_weight = network.source_projection.weight, network.target_projection.weight
    embedding_half = source_weight[:, :half].clone()
    for weights in (source_weight, target_weight):
        weights[:, : 2 * half] = 0
    source_weight[:, :half], target_weight[:, half : 2 * half] = embedding_half, embedding_half


class TranslationTask:
    """Translation; the loss is a sum over target pieces."""

    def __init__(self, config: TrainingConfig, corpus: Corpus, tokenizer: Tokenizer, device: torch.device) -> None:
        self.config, self.corpus, self.tokenizer, self.device = config, corpus, tokenizer, device
        guided = config.guidance > 0
        self.lexicon = prepare_guidance(config, corpus, len(tokenizer), device).to(device) if guided else None

    def begin(self, network: Any) -> None:
        """Leave the random weights as they are."""

    def objective(self, network: Any) -> nn.Module:
        """Return the module that maps the inputs of a batch to its loss and likelihood, in nats: of the next piece."""
        return Objective(network, self.config.label_smoothing, self.config.guidance)

    def inputs(self, indices: NDArray[np.int64], seed: Sequence[int]) -> Inputs:  # noqa: ARG002
        """Return the pairs at `indices` (B,) and, for guidance, their links; then the number of loss terms.

        Nothing is random.
        """
        batch = make_batch(self.corpus, indices)
        terms = batch.target_tokens  # counted on the CPU: on a GPU it would synchronise
        batch = batch.to(self.device)
        return (batch, self.lexicon.links(batch) if self.lexicon else None), terms

    def validation(self) -> Validation:
        """Return the validation of loss and BLEU."""
        return Validation(self.config, self.tokenizer, self.device)

    def finish(self, folder: Path) -> None:
        """Add nothing to the folder of the model."""


class DetectionTask:
    """Detection of translations; the loss is a sum over pairs, half of them negatives."""

    def __init__(self, config: TrainingConfig, corpus: Corpus, tokenizer: Tokenizer, device: torch.device) -> None:
        self.config, self.corpus, self.tokenizer, self.device = config, corpus, tokenizer, device
        self.links, self.exchanges = prepare_lexicon(config, corpus, tokenizer)
        self.negatives = Negatives(self.exchanges, tokenizer)
        self.lexicon = self.links.to(device) if config.guidance > 0 else None

    def begin(self, network: Any) -> None:
        """Initialise the embeddings by the links of pieces."""
        initialise_embeddings(network, self.links)

    def objective(self, network: Any) -> nn.Module:
        """Return the module that maps the inputs of a batch to its loss and likelihood, in nats: of the two classes."""
        return DetectorObjective(network, self.config.label_smoothing, self.config.guidance)

    def inputs(self, indices: NDArray[np.int64], seed: Sequence[int]) -> Inputs:
        """Return each pair at `indices` (B,) and a negative of it; for guidance also the links of the pairs.

        The number of loss terms comes after them. Random draws depend on `seed` alone.
        """
        links = self.lexicon.links(make_batch(self.corpus, indices).to(self.device)) if self.lexicon else None
        pairs = pairs_at(self.corpus, indices)
        drawn = self.negatives.draw(pairs, np.random.default_rng(seed))
        batch = pair_batch(pairs, [negative.pair for negative in drawn])
        return (batch.to(self.device), links), len(batch.labels)

    def validation(self) -> DetectorValidation:
        """Return the validation of loss and of accuracy by kind of negative."""
        return DetectorValidation(self.config, self.tokenizer, self.negatives, self.device)

    def finish(self, folder: Path) -> None:
        """Write the exchangeable words, which make the same kinds of negatives for evaluation."""
        save_exchanges(folder / EXCHANGES, self.exchanges)
