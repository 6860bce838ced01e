"""What a trace is made of, besides arrays."""

from __future__ import annotations

from dataclasses import dataclass

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
