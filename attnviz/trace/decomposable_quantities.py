"""The table of quantities of a detector's verdict, as `trace.quantities` is that of a translation by RNNsearch.

Sizes: Tx source and Ty target pieces, `</s>` included; m units of an embedding, d of everything after; two classes, "no
translation" and "translation".
"""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.trace.quantity import Quantity

_TABLE = (
    Quantity("source_embeddings", "E x_i", ("Tx", "m"), "E x_i", "the source pieces as vectors"),
    Quantity("target_embeddings", "E y_j", ("Ty", "m"), "E y_j", "the target pieces as vectors"),
    Quantity("source_projected", "a_i", ("Tx", "d"), "a_i = P_a E x_i", "the same, projected into the common space"),
    Quantity("target_projected", "b_j", ("Ty", "d"), "b_j = P_b E y_j", "the same, projected into the common space"),
    Quantity(
        "source_features",
        "F(a_i)",
        ("Tx", "d"),
        r"F(a_i), \quad F(x) = \max(0, W_2 \max(0, W_1 x + c_1) + c_2)",
        "what a source piece is attended by",
    ),
    Quantity("target_features", "F(b_j)", ("Ty", "d"), "F(b_j)", "what a target piece is attended by"),
    Quantity("energies", "e_{ij}", ("Tx", "Ty"), r"e_{ij} = F(a_i) \cdot F(b_j)", "how well two pieces go together"),
    Quantity(
        "source_alignment",
        r"\alpha_{ij}",
        ("Tx", "Ty"),
        r"\exp(e_{ij}) / \sum_k \exp(e_{ik})",
        "where each source piece looks in the target; rows sum to 1",
    ),
    Quantity(
        "target_alignment",
        r"\alpha'_{ji}",
        ("Ty", "Tx"),
        r"\exp(e_{ij}) / \sum_k \exp(e_{kj})",
        "where each target piece looks in the source; rows sum to 1",
    ),
    Quantity(
        "source_aligned",
        r"\beta_i",
        ("Tx", "d"),
        r"\beta_i = \sum_j \alpha_{ij} b_j",
        "the target as a source piece sees it",
    ),
    Quantity(
        "target_aligned",
        r"\alpha_j",
        ("Ty", "d"),
        r"\alpha_j = \sum_i \alpha'_{ji} a_i",
        "the source as a target piece sees it",
    ),
    Quantity(
        "source_comparisons",
        "v_{1,i}",
        ("Tx", "d"),
        r"v_{1,i} = G([a_i ; \beta_i])",
        "each source piece held against what it sees",
    ),
    Quantity(
        "target_comparisons",
        "v_{2,j}",
        ("Ty", "d"),
        r"v_{2,j} = G([b_j ; \alpha_j])",
        "each target piece held against what it sees",
    ),
    Quantity("source_sum", "v_1", ("d",), r"v_1 = \sum_i v_{1,i}", "all comparisons of the source"),
    Quantity("target_sum", "v_2", ("d",), r"v_2 = \sum_j v_{2,j}", "all comparisons of the target"),
    Quantity("hidden", "h", ("d",), r"h = \max(0, W_H [v_1 ; v_2] + c_H)", "the layer before the verdict"),
    Quantity("logits", "o", ("classes",), r"o = W_o h + c_o", "scores of “no translation” and of “translation”"),
    Quantity("probabilities", "p", ("classes",), r"p = \operatorname{softmax}(o)", "the verdict; they sum to 1"),
)

QUANTITIES: Mapping[str, Quantity] = {quantity.name: quantity for quantity in _TABLE}
"""The table, by name."""
RECORDED = tuple(quantity for quantity in _TABLE if quantity.recorded)
"""What a record keeps: its arrays."""
