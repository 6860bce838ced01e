"""`Computation`: the base class of results of a network: which model, on which device, in what time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from attnviz.trace import storage
from attnviz.trace.saved import Saved


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Computation(Saved):
    """A result of one network that can be saved, and what identifies that network."""

    config: Mapping[str, Any]
    """The model's config, read-only."""
    model: str
    """Name of the model folder."""
    weights_digest: str
    """SHA-256 of `model.safetensors` in hexadecimal; empty where unknown.

    Identifies the model that made this result.
    """
    device: str
    """The torch device that ran the network, such as "cpu" or "cuda:0"."""
    seconds: float
    """Wall time of computing and recording, in seconds; in a batch, from the batch's start to this sentence's end."""

    def __post_init__(self) -> None:
        """Make the config read-only too; the parent class copies the arrays."""
        super().__post_init__()
        object.__setattr__(self, "config", MappingProxyType(dict(self.config)))

    def check_origin(self) -> None:
        """Raise ValueError for invalid characters in model name or device, and for config values of other types."""
        storage.check_characters((self.model, self.device))
        if not all(isinstance(value, (str, int, float)) for value in self.config.values()):
            raise ValueError("its model's config holds more than numbers and words")
