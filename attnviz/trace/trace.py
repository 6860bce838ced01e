"""`Trace`: everything computed while RNNsearch translated a sentence, and the table of its quantities.

Traces check their arrays by the table, recomputation and verification compare by it, and the page, `help(Trace)` and
`Trace.describe` read symbols and equations from it.

Sizes: Tx source and Ty target pieces, `</s>` included; n hidden, n' alignment and l maxout size; m the size of each
encoder direction; r the number of features of location-aware attention; c the length of a context vector, 2m, or m
without attention; k candidates stored of each step; K pieces of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attnviz import bounds
from attnviz.attention_kinds import HALVING_KINDS, check_known
from attnviz.trace import storage
from attnviz.trace.parts import FloatArray
from attnviz.trace.quantity import Quantity, check_shapes, piece_quantities
from attnviz.trace.record import Recurrent

__all__ = ["DERIVED", "QUANTITIES", "RECORDED", "Quantity", "check_shapes", "sizes"]


def additive_energy(inside: str, left: str = "(", right: str = ")") -> str:
    """Return the energy in LaTeX, given the sum `inside` the tanh and the parentheses around it."""
    return rf"v_a^\top \tanh{left}{inside}{right}"


def query_and_key(state: str = "s_{i-1}", annotation: str = "h_j", more: str = "") -> str:
    """Return the sum inside the tanh in LaTeX; `more` is added to query and key as it is written."""
    return rf"W_a {state} + U_a {annotation}{more}"


_TABLE = (
    Quantity(
        "annotations",
        r"h_j",
        ("Tx", "2m"),
        r"h_j = [\overrightarrow{h}_j ; \overleftarrow{h}_j]",
        "annotation: both encoder states at a source piece",
    ),
    Quantity(
        "initial_state",
        r"s_0",
        ("n",),
        r"s_0 = \tanh(W_s \overleftarrow{h}_1 + b_s)",
        "decoder state before the first word",
    ),
    Quantity("keys", r"U_a h_j", ("Tx", "n'"), r"U_a h_j", "key: an annotation in the alignment space"),
    Quantity(
        "queries", r"W_a s_{i-1}", ("Ty", "n'"), r"W_a s_{i-1}", "query: the previous state in the alignment space"
    ),
    Quantity(
        "score_vector", r"v_a", ("n'",), r"v_a", "weights of the alignment units in an energy", may_be_absent=True
    ),
    Quantity(
        "features",
        r"f_{ij}",
        ("Ty", "Tx", "r"),
        r"f_{ij} = (F * \alpha_{i-1})_j",
        "features of the weights of the step before, on which energies depend",
        may_be_absent=True,
    ),
    Quantity(
        "feature_weight",
        r"L",
        ("n'", "r"),
        r"L",
        "weights of the features in the units of an energy",
        may_be_absent=True,
    ),
    Quantity(
        "energies",
        r"e_{ij}",
        ("Ty", "Tx"),
        rf"e_{{ij}} = {additive_energy(query_and_key())}",
        "energy: how well a source piece fits the state, before interventions",
    ),
    Quantity(
        "alignment",
        r"\alpha_{ij}",
        ("Ty", "Tx"),
        r"\alpha_{ij} = \exp(e_{ij}) / \sum_k \exp(e_{ik})",
        "attention, after interventions; rows sum to 1",
    ),
    Quantity(
        "contexts",
        r"c_i",
        ("Ty", "c"),
        r"c_i = \sum_j \alpha_{ij} h_j",
        "context vector: weighted sum of the annotations",
    ),
    Quantity(
        "states",
        r"s_i",
        ("Ty", "n"),
        r"s_i = (1 - z_i) \odot \tilde s_i + z_i \odot s_{i-1}",
        "decoder state after the step",
    ),
    Quantity(
        "update_gates",
        r"z_i",
        ("Ty", "n"),
        r"z_i = \sigma(W_z [E y_{i-1} ; c_i] + U_z s_{i-1} + b_z)",
        "update gate: share of the old state that is kept, in (0, 1)",
    ),
    Quantity(
        "reset_gates",
        r"r_i",
        ("Ty", "n"),
        r"r_i = \sigma(W_r [E y_{i-1} ; c_i] + U_r s_{i-1} + b_r)",
        "reset gate: share of the old state in the candidate, in (0, 1)",
    ),
    Quantity(
        "candidates",
        r"\tilde s_i",
        ("Ty", "n"),
        r"\tilde s_i = \tanh(W [E y_{i-1} ; c_i] + b + r_i \odot (U s_{i-1} + b'))",
        "candidate state, in (-1, 1)",
    ),
    Quantity(
        "readouts",
        r"t_i",
        ("Ty", "l"),
        r"t_{ik} = \max(\tilde t_{i,2k}, \tilde t_{i,2k+1})",
        "maxout layer, from which the logits are computed",
    ),
    *piece_quantities(r"p(y_i) = \operatorname{softmax}(W_o t_i + b_o)"),
    Quantity(
        "target_ids", r"y_i", ("Ty",), r"y_i", "id of the written piece; given in forced decoding", recorded=False
    ),
    Quantity(
        "entropy",
        r"H_i",
        ("Ty",),
        r"H_i = -\sum_j \alpha_{ij} \log_2 \alpha_{ij}",
        "entropy of the attention, in bits, from 0 to log2 Tx",
        recorded=False,
    ),
    Quantity(
        "coverage",
        r"\textstyle\sum_i \alpha_{ij}",
        ("Tx",),
        r"\sum_i \alpha_{ij}",
        "attention to a source piece, summed over the steps",
        recorded=False,
    ),
    Quantity("logits", r"o_i", ("Ty", "K"), r"W_o t_i + b_o", "logits of all pieces", recorded=False),
    Quantity(
        "probabilities",
        r"p(y_i)",
        ("Ty", "K"),
        r"p(y_i) = \operatorname{softmax}(W_o t_i + b_o)",
        "probabilities of all pieces",
        recorded=False,
    ),
    Quantity(
        "energy sums",
        r"e_{ij}",
        ("Ty", "Tx"),
        rf"\sum_k v_k \tanh({query_and_key()})_k",
        "energy, summed over the alignment units of its decomposition",
        recorded=False,
    ),
    Quantity(
        "maxout pairs",
        r"t_i",
        ("Ty", "l"),
        r"\tilde t_i = U_o s_{i-1} + V_o E y_{i-1} + C_o c_i + b",
        "maxout layer, from the larger of each pair",
        recorded=False,
    ),
    Quantity(
        "attribution sums",
        r"o_i",
        ("Ty", "k"),
        r"b_o + W_o (b + U_o s_{i-1} + V_o E y_{i-1} + \sum_j \alpha_{ij} C_o h_j)^{\mathrm{win}}",
        "logits of the displayed candidates, summed over their attributions",
        recorded=False,
    ),
    Quantity(
        "likelihood",
        r"p(y_i \mid h_j)",
        ("Ty", "Tx"),
        r"p(y_i \mid s_{i-1}, y_{i-1}, c = h_j)",
        "probability of the written piece if the context were one annotation",
        recorded=False,
    ),
    Quantity(
        "log_likelihood",
        r"\log p(y_i \mid h_j)",
        ("Ty", "Tx"),
        r"\log p(y_i \mid s_{i-1}, y_{i-1}, c = h_j)",
        "log probability of the same, in nats",
        recorded=False,
    ),
    Quantity(
        "posterior",
        r"p(j \mid y_i)",
        ("Ty", "Tx"),
        r"\alpha_{ij}\, p(y_i \mid h_j) / \sum_k \alpha_{ik}\, p(y_i \mid h_k)",
        "posterior attention, given the written piece; rows sum to 1",
        recorded=False,
    ),
    Quantity(
        "heatmap_posterior",
        r"\alpha'_{ij}",
        ("Ty", "Tx"),
        r"\bigl(\alpha_{ij}\, p(y_i \mid h_j)\bigr)^{3/4} e^{f_{ij}/4} \big/ \textstyle\sqrt{\sum_i \cdots}",
        "posterior attention of the heatmap, normalised over steps too; rows sum to 1",
        recorded=False,
    ),
)

QUANTITIES: Mapping[str, Quantity] = {quantity.name: quantity for quantity in _TABLE}
"""The table, by name."""
RECORDED = tuple(quantity for quantity in _TABLE if quantity.recorded)
"""The quantities that a trace stores as arrays."""
DERIVED = tuple(quantity for quantity in _TABLE if not quantity.recorded)
"""The quantities that follow from those and the weights."""


def sizes(trace: Trace) -> dict[str, int]:
    """Return the value of each size symbol in `trace`.

    Raise IndexError or KeyError where an array lacks a dimension or the config its vocabulary size.
    """
    n = trace.initial_state.shape[0]
    m = n // 2 if trace.config["attention"] in HALVING_KINDS else n
    return {
        "Tx": len(trace.source_pieces),
        "Ty": len(trace.target_pieces),
        "n": n,
        "2m": 2 * m,
        "n'": trace.keys.shape[1],
        "r": trace.features.shape[2],
        "c": 2 * m if trace.attends else m,
        "l": trace.readouts.shape[1],
        "k": trace.top_ids.shape[1],
        "K": trace.config["vocabulary_size"],
    }


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Trace(Recurrent):
    """Everything computed while one sentence was translated by RNNsearch (Bahdanau, Cho & Bengio 2014).

    Tx and Ty count source and target pieces; n is the hidden size, m the size of each encoder direction, n' the
    alignment size, l the maxout size, r the number of features, c the length of a context vector, 2m or without
    attention m, k the number of candidates stored of each step and K the vocabulary's size. The config is a
    `ModelConfig`.
    """

    saved_as: ClassVar[storage.FileFormat] = storage.FileFormat("attnviz-trace", 6)
    arrays: ClassVar[tuple[Quantity, ...]] = RECORDED
    derived: ClassVar[tuple[Quantity, ...]] = DERIVED

    features: FloatArray
    """Features f_ij of the previous step's weights, (Ty, Tx, r); r is 0 except in location-aware attention."""
    feature_weight: FloatArray
    """Feature matrix L, (n', r), whose product with the features is added to the keys."""
    states: FloatArray
    """Decoder states s_i, (Ty, n)."""
    update_gates: FloatArray
    """Update gates z_i, (Ty, n), in (0, 1); torch's convention: s_i = (1 - z_i) * candidate + z_i * s_{i-1}."""
    reset_gates: FloatArray
    """Reset gates r_i, (Ty, n), in (0, 1)."""
    candidates: FloatArray
    """Candidate states, (Ty, n), in (-1, 1)."""

    @property
    def attends(self) -> bool:
        """Whether the model has attention; False for `attention="none"`, where every step has the same context."""
        return bool(self.config["attention"] != "none")

    @property
    def attends_once(self) -> bool:
        """Whether the model has attention: RNNsearch then has one distribution a step."""
        return self.attends

    @property
    def previous_alignment(self) -> FloatArray:
        """Attention alpha_{i-1} of the step before each step, 0 before the first, (Ty, Tx)."""
        return np.concatenate([np.zeros_like(self.alignment[:1]), self.alignment[:-1]])

    def features_at(self, step: int) -> FloatArray:
        """Return the features f_ij of 0-based `step`, (Tx, r); r is 0 except in location-aware attention."""
        return self.features[step] if self.features.size else super().features_at(step)

    def keys_at(self, step: int) -> FloatArray:
        """Return the keys plus L f_ij, from which the energies of 0-based `step` are computed, (Tx, n')."""
        return self.keys + self.features[step] @ self.feature_weight.T if self.features.size else self.keys

    @property
    def kept_shares(self) -> FloatArray:
        """Update gates z_i, (Ty, n)."""
        return self.update_gates

    @property
    def reads_new_state(self) -> bool:
        """Whether logits are computed from s_i; otherwise from s_{i-1}."""
        return bool(self.config["readout_state"] == "current")

    def sizes(self) -> dict[str, int]:
        """Return the value of each size symbol in the table of quantities.

        Raise IndexError or KeyError where an array lacks a dimension or the config its vocabulary size.
        """
        return sizes(self)

    def check_numbers(self) -> None:
        """Raise ValueError unless the rows of the alignment sum to 1 and the config's choices are known."""
        if not np.allclose(self.alignment.sum(axis=1), 1, atol=1e-3) or self.alignment.min() < 0:
            raise ValueError("a row of the alignment does not sum to 1")
        check_known(self.config["attention"])
        bounds.check_one_of("readout_state", self.config["readout_state"], ("previous", "current"))
