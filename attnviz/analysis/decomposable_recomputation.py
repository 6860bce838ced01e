"""Recompute decomposable attention (Parikh et al. 2016) for one pair in NumPy float64, for verification.

Written from the equations, without code of `attnviz.network`. Every sum over positions is rounded once, at its end
(`math.fsum`), so that the order of the pieces does not change a bit of the verdict.

Symbols and sizes are those of `trace.judgement`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.recomputation import Weights

Array = NDArray[np.float64]
Operand = Callable[[str, Array], Array]
"""Maps a quantity's name and its recomputed value to the value that the next computations use."""


@dataclass(frozen=True, eq=False)
class DecomposableRecomputation:
    """Quantities of a verdict in float64, with names and shapes of `trace.judgement`."""

    source_embeddings: Array
    target_embeddings: Array
    source_projected: Array
    target_projected: Array
    source_features: Array
    target_features: Array
    energies: Array
    source_alignment: Array
    target_alignment: Array
    source_aligned: Array
    target_aligned: Array
    source_comparisons: Array
    target_comparisons: Array
    source_sum: Array
    target_sum: Array
    hidden: Array
    logits: Array
    probabilities: Array

    def by_name(self) -> dict[str, Array]:
        """Return the quantities by name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


def recompute_decomposable(
    weights: Weights,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    operand: Operand = lambda _name, computed: computed,
) -> DecomposableRecomputation:
    """Compute every quantity for `source_ids` and `target_ids`, both with `</s>`.

    `weights` maps parameter names to arrays. `operand` may replace each quantity by another value, such as the recorded
    one, before the next is computed from it.
    """
    network = _Pass(weights, operand)
    store = network.store
    embedded = [
        store(f"{side}_embeddings", np.asarray(weights["embedding.weight"][list(ids)], dtype=np.float64))
        for side, ids in (("source", source_ids), ("target", target_ids))
    ]
    sides = list(zip(("source", "target"), embedded, strict=True))
    a, b = (store(f"{side}_projected", network.each(f"{side}_projection", x)) for side, x in sides)
    source, target = (
        store(f"{side}_features", network.forward("attend", x)) for side, x in (("source", a), ("target", b))
    )
    energies = store("energies", np.array([[float(f @ g) for g in target] for f in source]))
    forward, backward = store("source_alignment", _softmax(energies)), store("target_alignment", _softmax(energies.T))
    beta, alpha = store("source_aligned", _weighted(forward, b)), store("target_aligned", _weighted(backward, a))
    v_1 = _total(store("source_comparisons", network.forward("compare", np.concatenate([a, beta], axis=1))))
    v_2 = _total(store("target_comparisons", network.forward("compare", np.concatenate([b, alpha], axis=1))))
    both = np.concatenate([store("source_sum", v_1), store("target_sum", v_2)])
    hidden = store("hidden", np.maximum(network.linear("aggregate", both), 0))
    logits = store("logits", network.linear("output", hidden))
    store("probabilities", _softmax(logits[None])[0])
    return DecomposableRecomputation(**network.quantities)


class _Pass:
    """One pass through the network, which stores every quantity."""

    def __init__(self, weights: Weights, operand: Operand) -> None:
        self.weights, self.operand = weights, operand
        self.quantities: dict[str, Array] = {}

    def store(self, name: str, computed: Array) -> Array:
        """Store a computed value, and return the value to continue with."""
        self.quantities[name] = computed
        return self.operand(name, computed)

    def linear(self, name: str, vector: Array) -> Array:
        """Return W x + c, or W x for a layer without c."""
        product: Array = np.asarray(self.weights[f"{name}.weight"], dtype=np.float64) @ vector
        bias = self.weights.get(f"{name}.bias")
        return product if bias is None else product + np.asarray(bias, dtype=np.float64)

    def each(self, name: str, vectors: Array) -> Array:
        """Apply `linear` to each row separately, since a matrix product may round differently by row."""
        return np.stack([self.linear(name, vector) for vector in vectors])

    def forward(self, name: str, vectors: Array) -> Array:
        """Return max(0, W_2 max(0, W_1 x + c_1) + c_2) of each row."""
        inner = np.maximum(self.each(f"{name}.inner", vectors), 0)
        return np.maximum(self.each(f"{name}.outer", inner), 0)


def _softmax(energies: Array) -> Array:
    """Return exp(e_j) / sum_k exp(e_k) of each row, (N, M)."""
    powers = np.exp(energies - energies.max(axis=1, keepdims=True))
    shares: Array = powers / np.array([[math.fsum(row)] for row in powers])
    return shares


def _total(vectors: Array) -> Array:
    """Return the sum of the rows, (N, d) to (d,)."""
    return np.array([math.fsum(column) for column in vectors.T])


def _weighted(shares: Array, vectors: Array) -> Array:
    """Return the sums of the `vectors` (M, d) weighted by each row of `shares` (N, M): (N, d)."""
    return np.stack([_total(row[:, None] * vectors) for row in shares])
