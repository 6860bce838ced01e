"""`ModelConfig`: the sizes and choices that define a network, stored as `config.json` beside its weights."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from attnviz import bounds

ATTENTION_KINDS = ("additive", "dot", "none")
READOUT_STATES = ("previous", "current")


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of an RNNsearch network, in the symbols of Bahdanau, Cho & Bengio (2014)."""

    vocabulary_size: int
    """K, shared by source and target."""
    embedding_size: int = 256
    """m."""
    hidden_size: int = 512
    """n: of each encoder direction and of the decoder."""
    alignment_size: int = 512
    """n', the units of the additive energy."""
    maxout_size: int = 256
    """l."""
    attention: str = "additive"
    """"additive", "dot", or "none" (every context is the last forward annotation)."""
    readout_state: str = "previous"
    """Which state the readout sees: "previous", s_{i-1}, as in the paper's appendix, or "current", s_i, as in Eq. 4."""
    dropout: float = 0.0
    """Probability, in [0, 1), used in training on embeddings, annotations and readouts."""

    def __post_init__(self) -> None:
        """Raise ValueError, saying which field is wrong, unless every field is in range."""
        bounds.check_model(dataclasses.asdict(self))
        bounds.one_of("attention", self.attention, ATTENTION_KINDS)
        bounds.one_of("readout_state", self.readout_state, READOUT_STATES)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary fit for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> ModelConfig:
        """Return the config with these fields; raise ValueError on an unknown, missing or bad one."""
        known = {field.name for field in dataclasses.fields(cls)}
        unknown = sorted(set(fields) - known)
        if unknown:
            raise ValueError(f"unknown field {', '.join(unknown)}")
        if "vocabulary_size" not in fields:
            raise ValueError("vocabulary_size is missing")
        return cls(**fields)
