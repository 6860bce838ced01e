"""Forms of attention: the step at which they differ most, and the multiplications of each; models side by side."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.attention_forms import AttentionForm, count_multiplications, instructive_step
from attnviz.analysis.models_side_by_side import bleu_gap_sentence
from attnviz.analysis.numbers import decimal
from attnviz.analysis.numpy_scorers import scorer_of


def form(*rows: tuple[float, float]) -> AttentionForm:
    return AttentionForm(np.array(rows, np.float32))


@pytest.mark.parametrize(
    ("additive", "general", "step"),
    [([(0.6, 0.4)] * 3, [(0.0, 1.0), (0.7, 0.3), (0.9, 0.1)], 2), ([(0.6, 0.4)] * 2, [(0.3, 0.7), (0.0, 1.0)], 1)],
    ids=["of those where all prefer the same piece", "where the forms never agree"],
)
def test_step_with_the_largest_change_is_shown(additive: list, general: list, step: int) -> None:
    forms = {"additive": form(*additive), "general": form(*general)}
    assert instructive_step(forms) == step  # type: ignore[arg-type]


@given(n=st.integers(1, 9), units=st.integers(1, 9), source=st.integers(1, 9), target=st.integers(1, 9))
def test_multiplications_are_those_of_the_products(n: int, units: int, source: int, target: int) -> None:
    """Of a matrix product (a, b) (b, c) there are a b c; the queries are multiplied at every step."""
    for kind in ("additive", "general"):
        shapes = scorer_of({"attention": kind}).weight_shapes(n, units, source)
        matrices = [math.prod(shape) for name, shape in shapes.items() if len(shape) == 2]
        inner = units if kind == "additive" else n
        found = count_multiplications({"attention": kind, "hidden_size": n, "alignment_size": units}, source, target)
        pairs = target * source * inner
        of_queries = target * n * units if kind == "additive" else 0
        assert sorted(matrices) == sorted([2 * n * inner, n * units][: len(matrices)])
        assert (found.keys, found.queries, found.pairs) == (source * 2 * n * inner, of_queries, pairs)
        assert found.tanh == (pairs if kind == "additive" else 0)
        assert found.total == found.keys + found.queries + found.pairs


@pytest.mark.usefixtures("each_language")
def test_bleu_gap_sentence_follows_from_the_scores(snapshot) -> None:
    sizes = 4_854_848, 4_819_520
    additive = {"1-10": 30.0, "11-20": 22.0, "21-30": 15.0}
    sentence = bleu_gap_sentence(additive, {"1-10": 31.0, "11-20": 20.5, "21-30": 12.0}, sizes)
    assert decimal(3.0, 1) in sentence
    assert [sentence, bleu_gap_sentence(additive, dict(additive), sizes)] == snapshot
    assert bleu_gap_sentence(additive, {"31-40": 9.0}, sizes) == ""
