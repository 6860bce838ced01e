"""Count the multiplications that all energies of a sentence take, with additive or general attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Multiplications:
    """Multiplications for all energies of a sentence, by purpose."""

    keys: int
    """Once for each source piece: U_a h_j, or P h_j."""
    queries: int
    """Once for each step: W_a s_{i-1}; 0 for general attention."""
    pairs: int
    """For each step and source piece: the units times v_a, or times one another."""
    tanh: int
    """Number of tanh evaluations, which cost several multiplications each."""

    @property
    def total(self) -> int:
        """All multiplications, without tanh."""
        return self.keys + self.queries + self.pairs


def count_multiplications(config: Mapping[str, Any], source: int, target: int) -> Multiplications:
    """Return the counts for a model's `config`, additive or general, `source` pieces Tx and `target` pieces Ty.

    Additive, with n' alignment units: 2n n' Tx + n n' Ty + n' Tx Ty, and n' Tx Ty tanh. General: 2n n Tx + n Tx Ty.
    Raise ValueError for another kind of attention.
    """
    n, kind = int(config["hidden_size"]), str(config["attention"])
    if kind == "general":
        return Multiplications(2 * n * n * source, 0, n * source * target, 0)
    if kind == "additive":
        units = int(config["alignment_size"])
        pairs = units * source * target
        return Multiplications(2 * n * units * source, n * units * target, pairs, pairs)
    raise ValueError(f"nothing is counted for attention {kind!r}")
