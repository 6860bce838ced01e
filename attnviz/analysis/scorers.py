"""The kinds of attention in NumPy float64: all of the recomputation and the microscope that depends on the kind.

`decoder` is always the decoder's weights by the rest of their names, as in `attention.key.weight`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Decoder = Mapping[str, NDArray[Any]]


class Scorer(ABC):
    """How energies are computed from states and annotations, and which units an energy is the sum of."""

    bounded = False
    """Whether the activation of a unit is a tanh, so that it can saturate."""

    @abstractmethod
    def weight_shapes(self, hidden: int, units: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of its weights by name, for the hidden size n and n' `units` of an energy."""

    def context_size(self, hidden: int) -> int:
        """Return the length of a context vector, given the hidden size n: 2n unless a kind says otherwise."""
        return 2 * hidden

    def keys(self, decoder: Decoder, annotations: Array) -> Array:
        """U_a h_j, or P h_j: (Tx, 2n) to (Tx, n')."""
        return annotations @ decoder["attention.key.weight"].T

    @abstractmethod
    def query(self, decoder: Decoder, state: Array) -> Array:
        """Return what s_{i-1} asks with, (n,) to (n',)."""

    @abstractmethod
    def activations(self, query: Array, keys: Array) -> Array:
        """Return the units of energies before they are weighed: (n',) and (..., n') to (..., n')."""

    @abstractmethod
    def score_vector(self, decoder: Decoder, units: int) -> Array:
        """Return what weighs each of the n' `units` of an energy, (n',); raise ValueError where there are none."""

    def energies(self, decoder: Decoder, query: Array, keys: Array) -> Array:
        """e_ij, the weighted sum of the units: (n',) and (Tx, n') to (Tx,)."""
        energies: Array = self.activations(query, keys) @ self.score_vector(decoder, len(query))
        return energies


class AdditiveScorer(Scorer):
    """e_ij = v_a . tanh(W_a s_{i-1} + U_a h_j)."""

    bounded = True

    def weight_shapes(self, hidden: int, units: int) -> dict[str, tuple[int, ...]]:
        """W_a (n', n), U_a (n', 2n) and v_a (n',)."""
        return {
            "attention.query.weight": (units, hidden),
            "attention.key.weight": (units, 2 * hidden),
            "attention.score": (units,),
        }

    def query(self, decoder: Decoder, state: Array) -> Array:
        """W_a s_{i-1}: (n,) to (n',)."""
        return decoder["attention.query.weight"] @ state

    def activations(self, query: Array, keys: Array) -> Array:
        """Tanh(query + key): (n',) and (..., n') to (..., n'), in (-1, 1)."""
        return np.tanh(query + keys)

    def score_vector(self, decoder: Decoder, units: int) -> Array:
        """v_a, (n',)."""
        return np.asarray(decoder["attention.score"], dtype=np.float64)


class GeneralScorer(Scorer):
    """e_ij = s_{i-1} . P h_j (Luong's *general*): its units are the products, each with weight 1."""

    def weight_shapes(self, hidden: int, units: int) -> dict[str, tuple[int, ...]]:
        """P, (n, 2n)."""
        return {"attention.key.weight": (hidden, 2 * hidden)}

    def query(self, decoder: Decoder, state: Array) -> Array:
        """Return the state as it is, (n,)."""
        return state

    def activations(self, query: Array, keys: Array) -> Array:
        """Query times key, unit by unit: (n,) and (..., n) to (..., n)."""
        return query * keys

    def score_vector(self, decoder: Decoder, units: int) -> Array:
        """Ones, (n,)."""
        return np.ones(units)


class FixedContext(Scorer):
    """No attention: the last source piece is open and no other, and a context is its annotation's forward half."""

    def weight_shapes(self, hidden: int, units: int) -> dict[str, tuple[int, ...]]:
        """Return nothing: there are no weights."""
        return {}

    def context_size(self, hidden: int) -> int:
        """Return n."""
        return hidden

    def keys(self, decoder: Decoder, annotations: Array) -> Array:
        """Return an empty key per piece: (Tx, 2n) to (Tx, 0)."""
        return annotations[:, :0]

    def query(self, decoder: Decoder, state: Array) -> Array:
        """Return an empty query, (0,)."""
        return state[:0]

    def activations(self, query: Array, keys: Array) -> Array:
        """Raise ValueError: there are no units, query (0,) and keys (Tx, 0) are empty."""
        raise ValueError("a model without attention has no energies to take apart")

    def score_vector(self, decoder: Decoder, units: int) -> Array:
        """Raise ValueError: there are no units."""
        raise ValueError("a model without attention has no energies to take apart")

    def energies(self, decoder: Decoder, query: Array, keys: Array) -> Array:
        """Return 0 for the last source piece and -inf for every other, (Tx,)."""
        energies = np.full(len(keys), -np.inf)
        energies[-1] = 0
        return energies


SCORERS: Mapping[str, Scorer] = {"additive": AdditiveScorer(), "general": GeneralScorer(), "none": FixedContext()}
"""The scorer that each value of `ModelConfig.attention` names."""


def scorer_of(config: Mapping[str, Any]) -> Scorer:
    """Return the scorer of a model, given its `config` as in a trace."""
    return SCORERS[config["attention"]]
