"""Decompose an energy of a recurrent model or a transformer head into contributions of units.

Symbols and sizes are those of `trace.trace`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.recomputation import Weights, submodule_weights
from attnviz.analysis.scorers import scorer_of
from attnviz.trace import Trace

Array = NDArray[np.float64]

SATURATED = 0.99
"""|tanh| from which a unit is saturated: its slope, 1 - tanh^2, is then below 2 %."""


@dataclass(frozen=True)
class EnergyDecomposition:
    """The units k = 1 ... n' of one energy e_ij.

    Additive: contribution_k = v_k tanh(query_k + key_k). Product: contribution_k = query_k key_k, with `score` 1, or
    times v_k in a user's own kind. Transformer: that times 1 / sqrt(units).
    """

    query: Array
    """(W_a s_{i-1})_k of additive attention, (s_{i-1})_k of a product, or q_k of a transformer, (n',)."""
    key: Array
    """The key as `Trace.keys_at` returns it, for instance (U_a h_j)_k or (P h_j)_k, (n',).

    Location-aware attention adds (L f_ij)_k. For a transformer it is k_k.
    """
    activation: Array
    """Activation of each unit, tanh(query + key) or query * key, (n',)."""
    score: Array
    """Weight of each unit, (v_a)_k, 1, or 1 / sqrt(n'), (n',)."""
    bounded: bool = True
    """Whether the activation is a tanh, as in additive attention."""
    names: tuple[str, str] = ("queryₖ", "keyₖ")
    """Labels of unit k of the query and of the key."""
    scaled: bool = False
    """Whether `score` is 1 / sqrt(n'), as in a transformer."""

    @property
    def contributions(self) -> Array:
        """Contribution of each unit, score * activation, (n',)."""
        return self.score * self.activation

    @property
    def energy(self) -> float:
        """Energy e_ij, the sum of the contributions."""
        return float(self.contributions.sum())

    @property
    def order(self) -> NDArray[np.intp]:
        """The units, largest |contribution| first."""
        return np.argsort(-np.abs(self.contributions), kind="stable")


def energy_decomposition(attention: Any, weights: Weights | None, step: int, position: int) -> EnergyDecomposition:
    """Return the decomposition of the energy of 0-based `step` and source `position`, in float64.

    `attention` is a recurrent trace or a head. Of a head, contribution_k = q_k k_k / sqrt(d/H); for masked cells it is
    the energy before the mask. v_a is taken from the trace; only traces of early versions need `weights`. Raise
    ValueError for a model without attention, and where v_a is not available; MissingFunctionError for a user's own kind
    without a NumPy class.
    """
    query = np.asarray(attention.queries[step], dtype=np.float64)
    if attention.has_heads:
        key = np.asarray(attention.keys[position], dtype=np.float64)
        score = np.full(len(query), 1 / np.sqrt(len(query)))
        return EnergyDecomposition(query, key, query * key, score, bounded=False, names=("qₖ", "kₖ"), scaled=True)
    key = np.asarray(attention.keys_at(step)[position], dtype=np.float64)
    scorer = scorer_of(attention.config)
    score = score_vector(attention, weights)
    return EnergyDecomposition(query, key, scorer.activations(query, key), score, scorer.bounded, scorer.names)


def score_vector(trace: Trace, weights: Weights | None) -> Array:
    """Return v_a, (n',), or ones for products; raise ValueError where there is none (see `energy_decomposition`)."""
    decoder: dict[str, NDArray[Any]] = {}
    if trace.score_vector.size:
        decoder["attention.score"] = trace.score_vector
    elif weights is not None:
        decoder = submodule_weights(weights, "decoder.")
    try:
        return scorer_of(trace.config).score_vector(decoder, trace.keys.shape[1])
    except KeyError:
        raise ValueError("the trace lacks v_a, and the model that made it is not here") from None


def saturated(decomposition: EnergyDecomposition) -> NDArray[np.bool_]:
    """Return which units of an additive energy are saturated, (n',); products never are."""
    return (np.abs(decomposition.activation) >= SATURATED) & decomposition.bounded
