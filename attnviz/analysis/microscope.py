"""The energy microscope: one cell of the heatmap taken apart into the units whose sum is its energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.recomputation import Weights
from attnviz.trace import Trace

Array = NDArray[np.float64]

SATURATED = 0.99
"""|tanh| from which a unit counts as saturated: its slope, 1 - tanh^2, is then below 2 %, so that neither query nor key
could still move it much."""


@dataclass(frozen=True)
class Microscope:
    """The units k = 1 ... n' of one energy e_ij. Additive: contribution_k = v_k tanh(query_k + key_k); dot product:
    contribution_k = query_k key_k, without tanh and with `score` 1."""

    query: Array
    """(W_a s_{i-1})_k, or (s_{i-1})_k for the dot product, (n',)."""
    key: Array
    """(U_a h_j)_k, or (P h_j)_k, (n',)."""
    activation: Array
    """tanh(query + key), or query * key, (n',)."""
    score: Array
    """(v_a)_k, or 1, (n',)."""

    @property
    def contributions(self) -> Array:
        """Score * activation, (n',)."""
        return self.score * self.activation

    @property
    def energy(self) -> float:
        """e_ij, the sum of the contributions."""
        return float(self.contributions.sum())

    @property
    def order(self) -> NDArray[np.intp]:
        """The units, largest |contribution| first."""
        return np.argsort(-np.abs(self.contributions), kind="stable")


def microscope(trace: Trace, weights: Weights, step: int, position: int) -> Microscope:
    """Take the energy of 0-based target `step` and source `position` apart, in float64.

    Raise ValueError for a model without attention, whose energies are not computed from units.
    """
    query = np.asarray(trace.queries[step], dtype=np.float64)
    key = np.asarray(trace.keys[position], dtype=np.float64)
    kind = trace.config["attention"]
    if kind == "additive":
        score = np.asarray(weights["decoder.attention.score"], dtype=np.float64)
        return Microscope(query, key, np.tanh(query + key), score)
    if kind == "dot":
        return Microscope(query, key, query * key, np.ones_like(query))
    raise ValueError("a model without attention has no energies to take apart")


def saturated(units: Microscope) -> NDArray[np.bool_]:
    """Return which units of an additive energy are saturated, (n',)."""
    return np.abs(units.activation) >= SATURATED
