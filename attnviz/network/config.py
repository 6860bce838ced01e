"""Configs of the networks, stored as `config.json` beside the weights.

`ModelConfig` is for RNNsearch, `TransformerConfig` for transformers, `DecomposableConfig` for decomposable attention,
`Seq2SeqConfig` (in `seq2seq_config`) for imported recurrent translators.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from attnviz import bounds
from attnviz.attention_kinds import check_known, kind_of
from attnviz.network.seq2seq_config import Seq2SeqConfig

READOUT_STATES = ("previous", "current")


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of an RNNsearch network, in the symbols of Bahdanau, Cho & Bengio (2014)."""

    vocabulary_size: int
    """K, shared by source and target."""
    embedding_size: int = 256
    """m, the embedding size."""
    hidden_size: int = 512
    """n, the size of the decoder, and of each encoder direction except in *dot* attention (`encoder_size`)."""
    alignment_size: int = 512
    """n', the number of units of the additive energy."""
    maxout_size: int = 256
    """l, the maxout size."""
    attention: str = "additive"
    """One of `attention_kinds.KINDS`, or a user's own kind, package.module:Class.

    With "none", every context is the last forward annotation.
    """
    readout_state: str = "previous"
    """State that the readout uses: "previous", s_{i-1}, as in the paper's appendix, or "current", s_i, as in Eq. 4."""
    dropout: float = 0.0
    """Dropout probability, in [0, 1), in training, of embeddings, annotations and readouts."""
    guidance: float | None = None
    """Weight of the guided-attention loss in training; 0 without guidance, None where unknown."""

    def __post_init__(self) -> None:
        """Raise ValueError, naming the field, unless every field is in range.

        Raise AttnvizError for a user's own kind of attention that is not registered.
        """
        bounds.check_model(dataclasses.asdict(self))
        check_known(self.attention)
        if kind_of(self.attention).halves and self.hidden_size % 2:
            raise ValueError(
                f"hidden_size must be even for the attention {self.attention}, because each direction of the "
                f"encoder gets half of it, not {self.hidden_size}"
            )
        bounds.one_of("readout_state", self.readout_state, READOUT_STATES)
        bounds.real("guidance", self.guidance or 0.0, 0, bounds.LARGEST_GUIDANCE)

    @property
    def encoder_size(self) -> int:
        """Size of each encoder direction; an annotation has twice as many numbers."""
        return self.hidden_size // 2 if kind_of(self.attention).halves else self.hidden_size

    def to_dict(self) -> dict[str, Any]:
        """Return the known fields as a dictionary for JSON."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value is not None}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> ModelConfig:
        """Return the config with these fields; raise ValueError for unknown, missing or invalid ones."""
        return cls(**_checked_fields(cls, fields))


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes of a transformer, in the symbols of Vaswani et al. (2017)."""

    vocabulary_size: int
    """K, shared by source and target."""
    model_size: int = 256
    """d, the size of the residual stream and of the embeddings."""
    heads: int = 4
    """H, the number of heads, which divides d."""
    layers: int = 3
    """L, the number of encoder layers and of decoder layers."""
    feedforward_size: int = 1024
    """f, the number of hidden units of a feed-forward block."""
    dropout: float = 0.0
    """Dropout probability, in [0, 1), in training, of embeddings, readouts and the output of every block."""

    def __post_init__(self) -> None:
        """Raise ValueError, naming the field, unless every field is in range."""
        bounds.check_model(dataclasses.asdict(self))
        if self.model_size % self.heads:
            raise ValueError(
                f"model_size must be a multiple of the number of heads, {self.heads}, not {self.model_size}"
            )
        if self.model_size % 2:
            raise ValueError(
                f"model_size must be even, because positions are pairs of sine and cosine, not {self.model_size}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the architecture as a dictionary for JSON."""
        return {"architecture": "transformer"} | dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> TransformerConfig:
        """Return the config with these fields; raise ValueError for unknown, missing or invalid ones."""
        return cls(**_checked_fields(cls, {name: value for name, value in fields.items() if name != "architecture"}))


@dataclass(frozen=True)
class DecomposableConfig:
    """Sizes of decomposable attention (Parikh et al. 2016), which detects translations."""

    vocabulary_size: int
    """K, shared by source and target."""
    embedding_size: int = 256
    """m, the embedding size."""
    model_size: int = 256
    """d, the size of the projected embeddings and of every layer of the networks F, G and H."""
    dropout: float = 0.0
    """Dropout probability, in [0, 1), in training, of the inputs of every layer of F, G and H."""

    def __post_init__(self) -> None:
        """Raise ValueError, naming the field, unless every field is in range."""
        bounds.check_model(dataclasses.asdict(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the architecture as a dictionary for JSON."""
        return {"architecture": "decomposable"} | dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> DecomposableConfig:
        """Return the config with these fields; raise ValueError for unknown, missing or invalid ones."""
        return cls(**_checked_fields(cls, {name: value for name, value in fields.items() if name != "architecture"}))


TrainableConfig = ModelConfig | TransformerConfig | DecomposableConfig
"""Configs of networks that this program trains."""
AnyConfig = TrainableConfig | Seq2SeqConfig
"""Configs of every architecture."""


def read_fields(fields: dict[str, Any]) -> AnyConfig:
    """Return the config of the architecture that `fields` name, RNNsearch where they name none.

    Raise ValueError where the architecture or a field is unknown, missing or invalid.
    """
    architecture = fields.get("architecture", "rnnsearch")
    bounds.one_of("architecture", architecture, bounds.ARCHITECTURES)
    if architecture == "transformer":
        return TransformerConfig.from_dict(fields)
    if architecture == "decomposable":
        return DecomposableConfig.from_dict(fields)
    if architecture == "seq2seq":
        return Seq2SeqConfig.from_dict(fields)
    return ModelConfig.from_dict({name: value for name, value in fields.items() if name != "architecture"})


def _checked_fields(
    cls: type[ModelConfig | TransformerConfig | DecomposableConfig], fields: dict[str, Any]
) -> dict[str, Any]:
    """Return `fields`; raise ValueError where `cls` lacks one of them or the vocabulary size is missing."""
    known = {field.name for field in dataclasses.fields(cls)}
    unknown = sorted(set(fields) - known)
    if unknown:
        raise ValueError(f"unknown field {', '.join(unknown)}")
    if "vocabulary_size" not in fields:
        raise ValueError("vocabulary_size is missing")
    return fields
