"""`Computation`: what every record of a network's work holds, of a translation or of a verdict: which network
it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from attnviz.trace import storage
from attnviz.trace.saved import Saved


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Computation(Saved):
    """What one network computed, and which."""

    config: Mapping[str, Any]
    """The config of the model as a read-only mapping."""
    model: str
    """Name of the model folder."""
    weights_digest: str
    """SHA-256 of the model's `model.safetensors` in hexadecimal: tells whether a model at hand is the one that made
    this record. Empty where it is unknown."""
    device: str
    """The torch device it ran on, as in "cpu" or "cuda:0"."""
    seconds: float
    """Wall time of the computation with all that is recorded here; of several computed together, that of all of them up
    to this one."""

    def __post_init__(self) -> None:
        """Take copies that nobody else can change."""
        super().__post_init__()
        object.__setattr__(self, "config", MappingProxyType(dict(self.config)))

    def check_origin(self) -> None:
        """Raise ValueError unless what is said of the network can be shown."""
        storage.check_characters((self.model, self.device))
        if not all(isinstance(value, (str, int, float)) for value in self.config.values()):
            raise ValueError("its model's config holds more than numbers and words")
