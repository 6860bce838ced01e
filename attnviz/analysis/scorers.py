"""The kinds of attention in NumPy float64, for recomputation and energy decomposition.

`decoder` is always the decoder's weights, named without "decoder.", as in `attention.key.weight`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.attention_kinds import kind_of, registered, resolve
from attnviz.errors import AttnvizError
from attnviz.languages import gettext

Array = NDArray[np.float64]
Decoder = Mapping[str, NDArray[Any]]


class Scorer(ABC):
    """Energies from states and annotations, and the units that an energy is the sum of."""

    bounded = False
    """Whether the activation of a unit is a tanh, so that it can saturate."""
    missing = ""
    """Says what cannot be computed, where something cannot."""

    @abstractmethod
    def weight_shapes(self, hidden: int, units: int, positions: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of its weights by name.

        They depend on the hidden size n, the n' `units` of an energy, and the `alignment_size` of the config.
        """

    def context_size(self, annotation: int) -> int:
        """Return the length of a context vector, given that of an annotation: the same unless a kind says otherwise."""
        return annotation

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

    def features(self, decoder: Decoder, before: Array) -> Array:
        """Return f_ij, what energies see of the weights of the step `before`, (Tx,), 0 before the first: (Tx, r)."""
        return before[:, None][:, :0]

    def energies(self, decoder: Decoder, query: Array, keys: Array, features: Array) -> Array:
        """e_ij, the weighted sum of the units: (n',), (Tx, n') and (Tx, r) to (Tx,)."""
        if features.size:
            keys = keys + features @ decoder["attention.feature.weight"].T
        energies: Array = self.activations(query, keys) @ self.score_vector(decoder, len(query))
        return energies


class AdditiveScorer(Scorer):
    """e_ij = v_a . tanh(W_a s_{i-1} + U_a h_j)."""

    bounded = True

    def weight_shapes(self, hidden: int, units: int, positions: int) -> dict[str, tuple[int, ...]]:
        """W_a (n', n), U_a (n', 2n) and v_a (n',)."""
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


class ProductScorer(Scorer):
    """e_ij = s_{i-1} . key_j: its units are the products, each with weight 1, and n' is n."""

    def query(self, decoder: Decoder, state: Array) -> Array:
        """Return the state unchanged, (n,)."""
        return state

    def activations(self, query: Array, keys: Array) -> Array:
        """Return query times key, unit by unit: (n,) and (..., n) to (..., n)."""
        return query * keys

    def score_vector(self, decoder: Decoder, units: int) -> Array:
        """Return ones, (n,)."""
        return np.ones(units)


class GeneralScorer(ProductScorer):
    """e_ij = s_{i-1} . P h_j (Luong's *general*)."""

    def weight_shapes(self, hidden: int, units: int, positions: int) -> dict[str, tuple[int, ...]]:
        """P, (n, 2n)."""
        return {"attention.key.weight": (hidden, 2 * hidden)}


class DotScorer(ProductScorer):
    """e_ij = s_{i-1} . h_j (Luong's *dot*), where annotations are as long as states."""

    def weight_shapes(self, hidden: int, units: int, positions: int) -> dict[str, tuple[int, ...]]:
        """Return nothing: there are no weights."""
        return {}

    def keys(self, decoder: Decoder, annotations: Array) -> Array:
        """Return the annotations as they are, (Tx, n)."""
        return annotations


class LocationScorer(ProductScorer):
    """e_ij = s_{i-1} . w_j (Luong's *location*), -inf behind the last place that has a w_j."""

    def weight_shapes(self, hidden: int, units: int, positions: int) -> dict[str, tuple[int, ...]]:
        """W, a row w_j for each place, (places, n)."""
        return {"attention.place.weight": (positions, hidden)}

    def keys(self, decoder: Decoder, annotations: Array) -> Array:
        """w_j: (Tx, 2n) to (Tx, n), 0 behind the last place."""
        places = decoder["attention.place.weight"][: len(annotations)]
        keys = np.zeros((len(annotations), places.shape[1]))
        keys[: len(places)] = places
        return keys

    def energies(self, decoder: Decoder, query: Array, keys: Array, features: Array) -> Array:
        """e_ij, (Tx,)."""
        energies = keys @ query
        energies[len(decoder["attention.place.weight"]) :] = -np.inf
        return energies


class LocationAwareScorer(AdditiveScorer):
    """e_ij = v_a . tanh(W_a s_{i-1} + U_a h_j + L f_ij), f_i = F * alpha_{i-1} (Chorowski et al. 2015)."""

    def weight_shapes(self, hidden: int, units: int, positions: int) -> dict[str, tuple[int, ...]]:
        """Those of the additive energy, F (r, width) and L (n', r), where r is 10 and the width 7."""
        own = {"attention.filters.weight": (10, 7), "attention.feature.weight": (units, 10)}
        return super().weight_shapes(hidden, units, positions) | own

    def features(self, decoder: Decoder, before: Array) -> Array:
        """f_ij = sum_k F_k alpha_{i-1, j+k}, k from -3 to 3, where weights outside the sentence are 0: (Tx, r)."""
        filters = np.asarray(decoder["attention.filters.weight"], dtype=np.float64)
        found = np.zeros((len(before), len(filters)))
        for j in range(len(before)):
            for k in range(-3, 4):
                if 0 <= j + k < len(before):
                    found[j] += filters[:, k + 3] * before[j + k]
        return found


class FixedContext(Scorer):
    """No attention: the alignment is 1 at the last source piece, and a context is its annotation's forward half."""

    def weight_shapes(self, hidden: int, units: int, positions: int) -> dict[str, tuple[int, ...]]:
        """Return nothing: there are no weights."""
        return {}

    def context_size(self, annotation: int) -> int:
        """Return that of its forward half."""
        return annotation // 2

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

    def energies(self, decoder: Decoder, query: Array, keys: Array, features: Array) -> Array:
        """Return 0 for the last source piece and -inf for every other, (Tx,)."""
        energies = np.full(len(keys), -np.inf)
        energies[-1] = 0
        return energies


class MissingFunctionError(AttnvizError):
    """The energies of a kind of attention cannot be computed here: it has no NumPy class, or is not registered."""


class UnknownScorer(Scorer):
    """A user's own kind without a NumPy class: whatever needs its energies raises MissingFunctionError."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def missing(self) -> str:  # type: ignore[override]  # in the language of whoever asks
        """Says that energies cannot be verified, and what would help."""
        return gettext(
            "Keys, query and energies are not verified: the attention “{name}” has no NumPy function. Name its class "
            "in the attribute “recomputation” of the scorer.",
            name=self.name,
        )

    def weight_shapes(self, hidden: int, units: int, positions: int) -> dict[str, tuple[int, ...]]:
        """Raise MissingFunctionError."""
        raise self._missing()

    def keys(self, decoder: Decoder, annotations: Array) -> Array:
        """Raise MissingFunctionError."""
        raise self._missing()

    def query(self, decoder: Decoder, state: Array) -> Array:
        """Raise MissingFunctionError."""
        raise self._missing()

    def activations(self, query: Array, keys: Array) -> Array:
        """Raise MissingFunctionError."""
        raise self._missing()

    def score_vector(self, decoder: Decoder, units: int) -> Array:
        """Raise MissingFunctionError."""
        raise self._missing()

    def _missing(self) -> MissingFunctionError:
        return MissingFunctionError(self.missing)


def scorer_of(config: Mapping[str, Any]) -> Scorer:
    """Return the scorer of a model, given its `config` as in a trace.

    It is an `UnknownScorer` for a user's own kind that is not registered, or has no NumPy class.
    """
    return _scorer(config["attention"], registered())


@cache
def _scorer(name: str, known: tuple[str, ...]) -> Scorer:  # noqa: ARG001  of the key: what is registered can change
    try:
        place = kind_of(name).recomputation
        found = resolve(place)() if place else UnknownScorer(name)
    except AttnvizError:
        return UnknownScorer(name)
    return found if isinstance(found, Scorer) else UnknownScorer(name)
