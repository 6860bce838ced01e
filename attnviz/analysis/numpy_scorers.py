"""Score functions of the kinds of attention in NumPy float64, for recomputation and energy decomposition.

`decoder` is always the decoder's weights, named without "decoder.", as in `attention.key.weight`. An annotation has 2n
numbers, with *dot* attention n; features are r numbers for each source piece, r = 0 except in location-aware attention.

Symbols and sizes are those of `trace.trace`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from attnviz.attention_kinds import kind_of, registered, resolve
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import Array, float64

DecoderWeights = Mapping[str, NDArray[Any]]
SymbolicShapes = tuple[tuple[str, tuple[str | int, ...]], ...]


class EnergyRecomputation(ABC):
    """Energies from states and annotations, and the units that an energy is the sum of."""

    bounded = False
    """Whether a unit's activation is a tanh, which can saturate."""
    names: tuple[str, str] = ("queryₖ", "keyₖ")
    """Labels of unit k of the query and of the key."""
    missing = ""
    """Message that energies cannot be computed; empty where they can."""
    shapes: SymbolicShapes = ()
    """Name without "attention.", and shape, of each weight, in numbers or the sizes of `Trace.sizes` and "positions".

    Positions are the `alignment_size` of RNNsearch's config, and the `source_length` of imported translators.
    """

    def context_size(self, annotation: int) -> int:
        """Return the length of a context vector, given the length of an annotation: by default the same."""
        return annotation

    def keys(self, decoder: DecoderWeights, annotations: Array) -> Array:
        """Return U_a h_j, or P h_j, plus the bias b_a of some imported translators: (Tx, 2n) to (Tx, n')."""
        return annotations @ decoder["attention.key.weight"].T + decoder.get("attention.key.bias", 0.0)

    @abstractmethod
    def query(self, decoder: DecoderWeights, state: Array) -> Array:
        """Return the query of s_{i-1}: (n,) to (n',)."""

    @abstractmethod
    def activations(self, query: Array, keys: Array) -> Array:
        """Return the units of energies before they are weighted: (n',) and (..., n') to (..., n')."""

    @abstractmethod
    def score_vector(self, decoder: DecoderWeights, units: int) -> Array:
        """Return the weight of each of the n' `units` of an energy, (n',); raise ValueError where there are none."""

    def features(self, decoder: DecoderWeights, previous_alignment: Array) -> Array:
        """Return f_ij from alpha_{i-1}: (Tx,) to (Tx, r). By default r is 0."""
        return previous_alignment[:, None][:, :0]

    def energies(self, decoder: DecoderWeights, query: Array, keys: Array, features: Array) -> Array:
        """Return e_ij, the weighted sum of the units: query (n',), keys (Tx, n') and features (Tx, r) to (Tx,)."""
        if features.size:
            keys = keys + features @ decoder["attention.feature.weight"].T
        return self.activations(query, keys) @ self.score_vector(decoder, len(query))


class AdditiveRecomputation(EnergyRecomputation):
    """e_ij = v_a . tanh(W_a s_{i-1} + U_a h_j)."""

    bounded = True
    names = ("(Wₐ s)ₖ", "(Uₐ h)ₖ")
    shapes: SymbolicShapes = (("query.weight", ("n'", "n")), ("key.weight", ("n'", "2m")), ("score", ("n'",)))

    def query(self, decoder: DecoderWeights, state: Array) -> Array:
        """Return W_a s_{i-1}: (n,) to (n',)."""
        return decoder["attention.query.weight"] @ state

    def activations(self, query: Array, keys: Array) -> Array:
        """Return tanh(query + key): (n',) and (..., n') to (..., n'), in (-1, 1)."""
        return np.tanh(query + keys)

    def score_vector(self, decoder: DecoderWeights, units: int) -> Array:
        """Return v_a, (n',)."""
        return float64(decoder["attention.score"])


class ProductRecomputation(EnergyRecomputation):
    """e_ij = s_{i-1} . key_j, whose units are the products, each with weight 1; n' is n."""

    def query(self, decoder: DecoderWeights, state: Array) -> Array:
        """Return the state unchanged, (n,)."""
        return state

    def activations(self, query: Array, keys: Array) -> Array:
        """Return query times key, unit by unit: (n,) and (..., n) to (..., n)."""
        return query * keys

    def score_vector(self, decoder: DecoderWeights, units: int) -> Array:
        """Return ones, (n,)."""
        return np.ones(units)


class GeneralRecomputation(ProductRecomputation):
    """e_ij = s_{i-1} . P h_j (Luong's *general*)."""

    names = ("sₖ", "(P h)ₖ")
    shapes = (("key.weight", ("n'", "2m")),)


class DotRecomputation(ProductRecomputation):
    """e_ij = s_{i-1} . h_j (Luong's *dot*); annotations have the length n of states."""

    names = ("sₖ", "hₖ")

    def keys(self, decoder: DecoderWeights, annotations: Array) -> Array:
        """Return the annotations unchanged, (Tx, n)."""
        return annotations


class LocationRecomputation(ProductRecomputation):
    """e_ij = s_{i-1} . w_j (Luong's *location*), with a learned w_j for each position j.

    Positions without a w_j have energy -inf.
    """

    names = ("sₖ", "wₖ")
    shapes = (("place.weight", ("positions", "n'")),)

    def keys(self, decoder: DecoderWeights, annotations: Array) -> Array:
        """Return w_j, and 0 at positions without a w_j: (Tx, 2n) to (Tx, n)."""
        places = decoder["attention.place.weight"][: len(annotations)]
        keys = np.zeros((len(annotations), places.shape[1]))
        keys[: len(places)] = places
        return keys

    def energies(self, decoder: DecoderWeights, query: Array, keys: Array, features: Array) -> Array:
        """Return e_ij, (Tx,), -inf at positions without a w_j."""
        energies = keys @ query
        energies[len(decoder["attention.place.weight"]) :] = -np.inf
        return energies


class LocationAwareRecomputation(AdditiveRecomputation):
    """e_ij = v_a . tanh(W_a s_{i-1} + U_a h_j + L f_ij), f_i = F * alpha_{i-1} (Chorowski et al. 2015)."""

    names = ("(Wₐ s)ₖ", "(Uₐ h + L f)ₖ")
    shapes = (*AdditiveRecomputation.shapes, ("filters.weight", (10, 7)), ("feature.weight", ("n'", 10)))

    def features(self, decoder: DecoderWeights, previous_alignment: Array) -> Array:
        """Return f_ij = sum_k F_k alpha_{i-1, j+k}, k from -3 to 3: (Tx,) to (Tx, r).

        alpha is 0 outside the sentence.
        """
        filters = float64(decoder["attention.filters.weight"])
        windows = np.lib.stride_tricks.sliding_window_view(np.pad(previous_alignment, 3), 7)
        return windows @ filters.T


class FixedContextRecomputation(EnergyRecomputation):
    """No attention: the alignment is 1 at the last source piece, and a context is its annotation's forward half."""

    def context_size(self, annotation: int) -> int:
        """Return the length of the annotation's forward half."""
        return annotation // 2

    def keys(self, decoder: DecoderWeights, annotations: Array) -> Array:
        """Return an empty key per piece: (Tx, 2n) to (Tx, 0)."""
        return annotations[:, :0]

    def query(self, decoder: DecoderWeights, state: Array) -> Array:
        """Return an empty query, (0,)."""
        return state[:0]

    def _raise(self, *_: Any, **__: Any) -> NoReturn:
        raise ValueError("a model without attention has no energies to take apart")

    activations = score_vector = _raise

    def energies(self, decoder: DecoderWeights, query: Array, keys: Array, features: Array) -> Array:
        """Return 0 for the last source piece and -inf for every other, (Tx,)."""
        energies = np.full(len(keys), -np.inf)
        energies[-1] = 0
        return energies


class MissingFunctionError(AttnvizError):
    """Energies cannot be computed: the kind of attention has no NumPy class, or is not registered."""


class UnknownScorer(EnergyRecomputation):
    """A kind of attention without a NumPy class; every computation raises MissingFunctionError."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def missing(self) -> str:  # type: ignore[override]  # a property, since the language can change
        """Message that energies cannot be verified, and how to supply the NumPy class."""
        return gettext(
            "Keys, query and energies are not verified: no NumPy class recomputes the attention “{name}”. Name a NumPy "
            "class in the attribute “recomputation” of the scorer.",
            name=self.name,
        )

    def _raise(self, *_: Any, **__: Any) -> NoReturn:
        raise MissingFunctionError(self.missing)

    keys = query = activations = score_vector = _raise


def scorer_of(config: Mapping[str, Any]) -> EnergyRecomputation:
    """Return the scorer of a model from its `config`, as a trace stores it.

    It is an `UnknownScorer` for a user's own kind that is not registered or has no NumPy class.
    """
    return _scorer(config["attention"], registered())


@cache
def _scorer(name: str, known: tuple[str, ...]) -> EnergyRecomputation:  # noqa: ARG001  in the cache's key: registrations change
    try:
        path = kind_of(name).recomputation
        scorer = resolve(path)() if path else UnknownScorer(name)
    except AttnvizError:
        return UnknownScorer(name)
    return scorer if isinstance(scorer, EnergyRecomputation) else UnknownScorer(name)
