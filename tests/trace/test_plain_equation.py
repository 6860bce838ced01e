"""Conversion of the quantities' LaTeX equations to plain text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from attnviz.trace import Attention, Judgement
from attnviz.trace.quantity import Quantity, plain_equation
from attnviz.trace.trace import QUANTITIES
from attnviz.trace.transformer_trace import TRANSFORMER_QUANTITIES as OF_TRANSFORMERS

TABLES = [
    *(tuple(table.values()) for table in (QUANTITIES, OF_TRANSFORMERS)),
    Judgement.arrays,
    Attention.arrays,
]


@pytest.mark.parametrize("table", TABLES)
def test_plain_equations_contain_no_latex(table: Sequence[Quantity]) -> None:
    for quantity in table:
        for latex in (quantity.symbol, quantity.equation):
            plain = plain_equation(latex)
            assert "\\" not in plain
            assert plain.count("{") == plain.count("}")


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"\alpha_{ij} = \exp(e_{ij}) / \sum_k \exp(e_{ik})", "α_ij = exp(e_ij) / Σ_k exp(e_ik)"),
        (r"\tilde s_{i-1} \odot \overrightarrow{h}_1", "s\u0303_{i-1} ⊙ →h_1"),
        (r"\sqrt{d/H} + \sqrt{d}\, E", "√(d/H) + √(d) E"),
        (r"\operatorname{softmax}_j(W_a s) \text{ or } \log p(y \mid x)", "softmax_j(W_a s) or log p(y | x)"),
    ],
)
def test_plain_text_of_equations(latex: str, plain: str) -> None:
    assert plain_equation(latex) == plain
