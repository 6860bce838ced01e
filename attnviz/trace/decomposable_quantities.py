"""Table of the arrays that a detector (decomposable attention, Parikh et al. 2016) records for a sentence pair.

Sizes: Tx source and Ty target pieces, `</s>` included; m units of an embedding, d of every later layer; two classes,
"no translation" and "translation".
"""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.trace.quantity import Quantity

_TABLE = (
    Quantity("source_embeddings", "E x_i", ("Tx", "m"), "E x_i", "embeddings of the source pieces"),
    Quantity("target_embeddings", "E y_j", ("Ty", "m"), "E y_j", "embeddings of the target pieces"),
    Quantity(
        "source_projected", "a_i", ("Tx", "d"), "a_i = P_a E x_i", "source embeddings, projected to the model size"
    ),
    Quantity(
        "target_projected", "b_j", ("Ty", "d"), "b_j = P_b E y_j", "target embeddings, projected to the model size"
    ),
    Quantity(
        "source_features",
        "F(a_i)",
        ("Tx", "d"),
        r"F(a_i), \quad F(x) = \max(0, W_2 \max(0, W_1 x + c_1) + c_2)",
        "features of a source piece for the energies",
    ),
    Quantity("target_features", "F(b_j)", ("Ty", "d"), "F(b_j)", "features of a target piece for the energies"),
    Quantity(
        "energies",
        "e_{ij}",
        ("Tx", "Ty"),
        r"e_{ij} = F(a_i) \cdot F(b_j)",
        "energy: how well a source and a target piece fit",
    ),
    Quantity(
        "source_alignment",
        r"\alpha_{ij}",
        ("Tx", "Ty"),
        r"\exp(e_{ij}) / \sum_k \exp(e_{ik})",
        "attention of each source piece to the target; rows sum to 1",
    ),
    Quantity(
        "target_alignment",
        r"\alpha'_{ji}",
        ("Ty", "Tx"),
        r"\exp(e_{ij}) / \sum_k \exp(e_{kj})",
        "attention of each target piece to the source; rows sum to 1",
    ),
    Quantity(
        "source_aligned",
        r"\beta_i",
        ("Tx", "d"),
        r"\beta_i = \sum_j \alpha_{ij} b_j",
        "weighted sum of the target for a source piece",
    ),
    Quantity(
        "target_aligned",
        r"\alpha_j",
        ("Ty", "d"),
        r"\alpha_j = \sum_i \alpha'_{ji} a_i",
        "weighted sum of the source for a target piece",
    ),
    Quantity(
        "source_comparisons",
        "v_{1,i}",
        ("Tx", "d"),
        r"v_{1,i} = G([a_i ; \beta_i])",
        "comparison of a source piece with its weighted sum",
    ),
    Quantity(
        "target_comparisons",
        "v_{2,j}",
        ("Ty", "d"),
        r"v_{2,j} = G([b_j ; \alpha_j])",
        "comparison of a target piece with its weighted sum",
    ),
    Quantity("source_sum", "v_1", ("d",), r"v_1 = \sum_i v_{1,i}", "sum of the comparisons of the source"),
    Quantity("target_sum", "v_2", ("d",), r"v_2 = \sum_j v_{2,j}", "sum of the comparisons of the target"),
    Quantity("hidden", "h", ("d",), r"h = \max(0, W_H [v_1 ; v_2] + c_H)", "hidden layer of the classifier"),
    Quantity("logits", "o", ("classes",), r"o = W_o h + c_o", "logits of “no translation” and “translation”"),
    Quantity(
        "probabilities",
        "p",
        ("classes",),
        r"p = \operatorname{softmax}(o)",
        "probabilities of both classes; they sum to 1",
    ),
)

QUANTITIES: Mapping[str, Quantity] = {quantity.name: quantity for quantity in _TABLE}
"""The table, by name."""
RECORDED = tuple(quantity for quantity in _TABLE if quantity.recorded)
"""The quantities that a judgement stores as arrays."""
