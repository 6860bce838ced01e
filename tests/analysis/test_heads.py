"""Heads of a transformer: shapes, masks, names, and decomposition of an energy into units."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.energy_equations import energy_decomposition
from attnviz.checkpoint import save_model
from attnviz.figures.heads_figure import thumbnail
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import TransformerTrace
from attnviz.trace.parts import HeadKind
from attnviz.translator import Translator
from tests.transformers import random_transformer


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory, tokenizer: Tokenizer) -> TransformerTrace:
    folder = tmp_path_factory.mktemp("transformer")
    save_model(folder, random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 3), tokenizer)
    return Translator.load(folder, "cpu").translate("A green house.", beam=2)  # type: ignore[return-value]


@pytest.mark.parametrize("kind", get_args(HeadKind))
def test_heads_have_query_rows_key_columns_and_decomposable_energies(trace: TransformerTrace, kind: HeadKind) -> None:
    for one in trace.heads_of(kind):
        shape = (len(one.target_pieces), len(one.source_pieces))
        assert one.alignment.shape == shape
        assert one.words().alignment.sum(axis=1) == pytest.approx(1, abs=1e-5)
        for row in range(shape[0]):
            assert not one.alignment[row, one.visible_key_count(row) :].any()
            for column in range(one.visible_key_count(row)):
                units = energy_decomposition(one, None, row, column)
                assert units.energy == pytest.approx(float(one.energies[row, column]), abs=1e-5)
        np.testing.assert_allclose(one.contexts, one.alignment @ one.values, atol=1e-6)
        terms = one.streams[0] + one.added.sum(axis=0)
        np.testing.assert_allclose(terms, one.streams[-1], atol=1e-4)
        assert trace.head_named(one.name) is not None
        assert one.name == f"{kind}.{one.layer + 1}.{one.head + 1}"
        assert one.blocks[one.block % len(one.blocks)] == ("cross" if kind == "cross" else "attention")


def test_decoder_heads_attend_to_the_previous_target_pieces(trace: TransformerTrace) -> None:
    one = trace.heads_of("decoder")[0]
    assert one.source_pieces == ("<s>", *trace.target_pieces[:-1])
    assert np.isneginf(one.energies[0, 1:]).all()


def test_open_head_returns_a_head_unchanged(trace: TransformerTrace) -> None:
    one = trace.heads_of("encoder")[3]
    assert one.displayed is one
    assert trace.head_named("cross.3.1") is None


@given(st.integers(1, 200), st.integers(1, 200))
def test_a_thumbnail_keeps_the_brightest_cell(rows: int, columns: int) -> None:
    matrix = np.random.default_rng(rows * 1000 + columns).random((rows, columns))
    small = thumbnail(matrix)
    assert small.shape == (min(rows, 48), min(columns, 48))
    assert small.max() == matrix.max()
    assert set(small.ravel()) <= set(matrix.ravel())
