"""What a trace is made of, besides arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int32]


@dataclass(frozen=True)
class Words:
    """A trace seen word by word: pieces merged by *sum* over the source and *mean* over the target, so that each row
    of `alignment` still sums to 1."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: FloatArray
    """(target words, source words), in [0, 1]."""
    source_groups: tuple[tuple[int, ...], ...]
    """For each source word, the indices of its pieces."""
    target_groups: tuple[tuple[int, ...], ...]

    def merged(self, shares: NDArray[Any]) -> FloatArray:
        """Return shares between the pieces, (Ty, Tx), as shares between these words, (target words, source words)."""
        by_source = np.stack([shares[:, list(group)].sum(axis=1) for group in self.source_groups], axis=1)
        found = np.stack([by_source[list(group)].mean(axis=0) for group in self.target_groups])
        return found.astype(np.float32)


@dataclass(frozen=True)
class Search:
    """How the target was found."""

    method: str
    """"greedy", "beam", or "forced" (the target was given)."""
    beam: int = 1
    length_penalty: float = 0.0
    """The exponent a of Ty^a, by which a hypothesis' summed log probability is divided."""


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation of the beam."""

    translation: str
    score: float
    """Log probability of all its pieces, divided by Ty^length_penalty."""


@dataclass(frozen=True)
class Heads:
    """Heads of a transformer's cross-attention, of whose weights the mean is shown; both numbers are 0-based."""

    layer: int | None = None
    """Whose heads; None is all layers."""
    head: int | None = None
    """Which of the layer's; None is all of them."""
