"""Forms of attention from additive to multi-head: weights and energies of a translation, and multiplication counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.trace import FloatArray, Trace
from attnviz.trace.transformer_trace import Head

Form = Literal["additive", "general", "product", "scaled", "heads"]
"""Names of the forms, in the order of the page *To the transformer*."""


@dataclass(frozen=True, eq=False)
class AttentionForm:
    """Attention of every step to the source pieces in one form."""

    weights: FloatArray
    """alpha_ij, (Ty, Tx); rows sum to 1. With several heads, their mean."""
    energies: FloatArray | None = None
    """e_ij, whose softmax over j is alpha_ij, (Ty, Tx); None with several heads."""
    heads: FloatArray | None = None
    """Weights of each head, (H, Ty, Tx); None with a single distribution."""


def attention_forms(additive: Trace, general: Trace, head: Head | None) -> dict[Form, AttentionForm]:
    """Return the forms of translations with the same pieces; without a `head`, those of recurrent models only.

    `head` is a cross-attention head with energies q_i . k_j / sqrt(d). "product" leaves out the division by sqrt(d),
    and "heads" has all heads of its layer.
    """
    forms: dict[Form, AttentionForm] = {
        "additive": AttentionForm(additive.alignment, additive.energies),
        "general": AttentionForm(general.alignment, general.energies),
    }
    if head is None:
        return forms
    products = head.queries.astype(np.float64) @ head.keys.astype(np.float64).T
    heads = head.record.cross_alignment[head.layer]
    return forms | {
        "product": AttentionForm(_softmax(products), products.astype(np.float32)),
        "scaled": AttentionForm(head.alignment, head.energies),
        "heads": AttentionForm(heads.mean(axis=0), heads=heads),
    }


def _softmax(energies: NDArray[np.float64]) -> FloatArray:
    powers = np.exp(energies - energies.max(axis=1, keepdims=True))
    weights: FloatArray = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
    return weights


def instructive_step(forms: Mapping[Form, AttentionForm]) -> int:
    """Return the 0-based step at which the forms differ most in their largest weight.

    Steps at which all forms have their largest weight at the same source piece come first.
    """
    weights = np.stack([form.weights for form in forms.values()])
    strongest, largest = weights.argmax(axis=2), weights.max(axis=2)
    agree = (strongest == strongest[0]).all(axis=0)
    return int((largest.max(axis=0) - largest.min(axis=0) + agree).argmax())


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
