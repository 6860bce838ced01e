"""The kinds of attention in NumPy float64, for recomputation and energy decomposition.

`decoder` is always the decoder's weights, named without "decoder.", as in `attention.key.weight`.
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
    """Energies from states and annotations, and the units that an energy is the sum of."""

    bounded = False
    """Whether a unit's activation is a tanh, which can saturate."""

    @abstractmethod
    def weight_shapes(self, hidden: int, units: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of its weights by name, for the hidden size n and n' `units` of an energy."""

    def context_size(self, hidden: int) -> int:
        """Return the length of a context vector for the hidden size n: 2n by default."""
        return 2 * hidden

    def keys(self, decoder: Decoder, annotations: Array) -> Array:
        """Return U_a h_j, or P h_j: (Tx, 2n) to (Tx, n')."""
        return annotations @ decoder["attention.key.weight"].T

    @abstractmethod
    def query(self, decoder: Decoder, state: Array) -> Array:
        """Return the query of s_{i-1}: (n,) to (n',)."""

    @abstractmethod
    def activations(self, query: Array, keys: Array) -> Array:
        """Return the units of energies before they are weighted: (n',) and (..., n') to (..., n')."""

    @abstractmethod
    def score_vector(self, decoder: Decoder, units: int) -> Array:
        """Return the weight of each of the n' `units` of an energy, (n',); raise ValueError where there are none."""

    def energies(self, decoder: Decoder, query: Array, keys: Array) -> Array:
        """Return e_ij, the weighted sum of the units: (n',) and (Tx, n') to (Tx,)."""
        energies: Array = self.activations(query, keys) @ self.score_vector(decoder, len(query))
        return energies


class AdditiveScorer(Scorer):
    """e_ij = v_a . tanh(W_a s_{i-1} + U_a h_j)."""

    bounded = True

    def weight_shapes(self, hidden: int, units: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of W_a (n', n), U_a (n', 2n) and v_a (n',)."""
        return {
            "attention.query.weight": (units, hidden),
            "attention.key.weight": (units, 2 * hidden),
            "attention.score": (units,),
        }

    def query(self, decoder: Decoder, state: Array) -> Array:
        """Return W_a s_{i-1}: (n,) to (n',)."""
        return decoder["attention.query.weight"] @ state

    def activations(self, query: Array, keys: Array) -> Array:
        """Return tanh(query + key): (n',) and (..., n') to (..., n'), in (-1, 1)."""
        return np.tanh(query + keys)

    def score_vector(self, decoder: Decoder, units: int) -> Array:
        """Return v_a, (n',)."""
        return np.asarray(decoder["attention.score"], dtype=np.float64)


class GeneralScorer(Scorer):
    """e_ij = s_{i-1} . P h_j (Luong's *general*): its units are the products, each with weight 1."""

    def weight_shapes(self, hidden: int, units: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of P, (n, 2n)."""
        return {"attention.key.weight": (hidden, 2 * hidden)}

    def query(self, decoder: Decoder, state: Array) -> Array:
        """Return the state unchanged, (n,)."""
        return state

    def activations(self, query: Array, keys: Array) -> Array:
        """Return query times key, unit by unit: (n,) and (..., n) to (..., n)."""
        return query * keys

    def score_vector(self, decoder: Decoder, units: int) -> Array:
        """Return ones, (n,)."""
        return np.ones(units)


class FixedContext(Scorer):
    """No attention: the alignment is 1 at the last source piece, and a context is its annotation's forward half."""

    def weight_shapes(self, hidden: int, units: int) -> dict[str, tuple[int, ...]]:
        """Return an empty dictionary: there are no weights."""
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
        """Raise ValueError: energies without attention have no units."""
        raise ValueError("a model without attention has no energies to take apart")

    def score_vector(self, decoder: Decoder, units: int) -> Array:
        """Raise ValueError: energies without attention have no units."""
        raise ValueError("a model without attention has no energies to take apart")

    def energies(self, decoder: Decoder, query: Array, keys: Array) -> Array:
        """Return 0 for the last source piece and -inf for every other, (Tx,)."""
        energies = np.full(len(keys), -np.inf)
        energies[-1] = 0
        return energies


SCORERS: Mapping[str, Scorer] = {"additive": AdditiveScorer(), "general": GeneralScorer(), "none": FixedContext()}
"""The scorer of each value of `ModelConfig.attention`."""


def scorer_of(config: Mapping[str, Any]) -> Scorer:
    """Return the scorer of a model from its `config`, as a trace stores it."""
    return SCORERS[config["attention"]]
