"""`TrainingConfig`: everything that defines a training run. The command line's options are these fields."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnviz.network import ModelConfig


DEFAULT_VOCABULARY = 8000
"""Pieces of a vocabulary that nothing else was asked for."""


def _option(help_text: str, default: Any = dataclasses.MISSING) -> Any:
    """Return a field whose `metadata["help"]` the command line shows."""
    return field(default=default, metadata={"help": help_text})


@dataclass(frozen=True)
class TrainingConfig:
    """A training run. Same config, same files, same machine: same weights."""

    data: tuple[str, ...] = _option(
        "training pairs, .tsv or .tsv.xz, source<TAB>target; PATH=WEIGHT shows a pair WEIGHT times an epoch on average"
    )
    validation: tuple[str, ...] = _option("validation pairs, files of the same kind")
    output: str = _option("folder of the run: checkpoints, log, snapshots, and the finished model in model/")

    start_from: str = _option(
        "folder of a model whose weights, sizes and attention the run begins with, instead of random weights and the "
        "sizes below; its tokenizer too, unless vocabulary_size or tokenizer ask for another",
        "",
    )
    vocabulary_size: int = _option(
        "pieces of the shared SentencePiece vocabulary, K; 0: 8000, or with start_from those of that model", 0
    )
    tokenizer: str = _option("use this tokenizer.model instead of training one", "")
    embedding_size: int = _option("size of word embeddings, m", 256)
    hidden_size: int = _option("size of each encoder direction and of the decoder, n", 512)
    alignment_size: int = _option("units of the additive energy, n'", 512)
    maxout_size: int = _option("units of the maxout readout, l", 256)
    attention: str = _option("additive, dot or none", "additive")
    readout_state: str = _option("state the readout sees: previous (s_{i-1}) or current (s_i)", "previous")
    dropout: float = _option("dropout on embeddings, annotations and readouts", 0.1)

    max_words: int = _option("leave out pairs with a longer side, in words", 50)
    batch_tokens: int = _option("target pieces a batch, padding included", 2400)
    updates: int = _option("updates of the weights after which training ends", 20000)
    learning_rate: float = _option("peak learning rate of Adam", 5e-3)
    matrix_rate: float = _option(
        "rate of Muon, which moves the matrices that are neither embeddings nor output layer, as a share of the "
        "learning rate; 0 leaves them to Adam",
        0.5,
    )
    warmup: int = _option("updates over which the learning rate rises from 0", 500)
    final_rate: float = _option("share of the peak that the learning rate decays to", 0.02)
    decay_updates: int = _option(
        "keep the peak rate and let it fall in a straight line over this many last updates, so that a run can be made "
        "longer before they begin; 0 lets it fall along a cosine from the end of the warmup",
        0,
    )
    label_smoothing: float = _option("probability spread evenly over the vocabulary", 0.1)
    guidance: float = _option(
        "weight of the pull of attention towards word links learnt from the same pairs (guided alignment); 0: none", 0.0
    )
    clip: float = _option("largest norm of the gradient", 1.0)
    seed: int = _option("seed of the weights, the order of the data and dropout", 1)

    validate_every: int = _option("updates between validations", 1000)
    patience: int = _option("stop after this many validations without a better BLEU; 0 never stops early", 5)
    bleu_sentences: int = _option("validation sentences translated for BLEU at each validation", 300)
    checkpoint_every: int = _option("updates between checkpoints", 250)
    snapshots: int = _option("moments, evenly spaced in log time, at which alignments of fixed sentences are kept", 12)
    snapshot_sentences: tuple[str, ...] = _option(
        "sentences whose alignment the snapshots keep",
        (
            "I don't know what you are talking about.",
            "A girl is riding a red bicycle.",
            "The agreement on the European Economic Area was signed in August 1992.",
        ),
    )
    device: str = _option("auto, cpu, cuda, cuda:N or mps", "auto")
    precision: str = _option("bf16 (autocast) or fp32", "bf16")
    threads: int = _option("threads of the CPU; 0 leaves torch's choice", 0)

    def __post_init__(self) -> None:
        """Raise ValueError, saying which field is wrong, unless the numbers make sense."""
        if not self.data:
            raise ValueError("data must name at least one file")
        if not self.validation:
            raise ValueError("validation must name at least one file")
        if self.precision not in ("bf16", "fp32"):
            raise ValueError(f"precision must be bf16 or fp32, not {self.precision!r}")
        for name in ("batch_tokens", "updates", "max_words", "validate_every", "checkpoint_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("matrix_rate", "warmup", "decay_updates", "patience", "bleu_sentences", "snapshots", "threads"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative")
        if not 0 <= self.label_smoothing < 1:
            raise ValueError(f"label_smoothing must be in [0, 1), not {self.label_smoothing}")
        if self.guidance < 0 or (self.guidance and self.attention == "none"):
            raise ValueError("guidance must not be negative, and needs an attention to guide")
        if not self.learning_rate > 0 or not self.clip > 0:
            raise ValueError("learning_rate and clip must be positive")
        if self.vocabulary_size < 0:
            raise ValueError("vocabulary_size must not be negative")
        self.model_config(self.vocabulary_size or DEFAULT_VOCABULARY)

    def model_config(self, vocabulary_size: int) -> ModelConfig:
        """Return the network's config, for as many pieces as the tokenizer turned out to have."""
        # Imported here, so that the options can be listed without waiting for torch.
        from attnviz.network import ModelConfig

        return ModelConfig(
            vocabulary_size=vocabulary_size,
            embedding_size=self.embedding_size,
            hidden_size=self.hidden_size,
            alignment_size=self.alignment_size,
            maxout_size=self.maxout_size,
            attention=self.attention,
            readout_state=self.readout_state,
            dropout=self.dropout,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary fit for JSON."""
        return dataclasses.asdict(self)
