"""`TransformerTrace`: attention by layer and head."""

import functools
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.energy_equations import energy_decomposition
from attnviz.figures.heads_figure import thumbnail
from attnviz.trace import TransformerTrace
from attnviz.trace.parts import HeadKind
from tests.snapshots import refusal


@pytest.fixture
def trace(records) -> TransformerTrace:
    return records[TransformerTrace]


def test_cross_attention_by_layer_and_head(trace, snapshot) -> None:
    np.testing.assert_allclose(trace.alignment, trace.cross_alignment.mean(axis=(0, 1)), atol=1e-6)
    np.testing.assert_array_equal(trace.cross_attention(-1), trace.cross_alignment[-1].mean(axis=0))
    np.testing.assert_array_equal(trace.cross_attention(0), trace.cross_alignment[0].mean(axis=0))
    np.testing.assert_array_equal(trace.cross_attention(1, 3), trace.cross_alignment[1, 3])
    np.testing.assert_allclose(trace.cross_attention(0).sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(trace.cross_attention(None), trace.cross_alignment.mean(axis=(0, 1)), atol=1e-6)
    for layer, head in ((2, None), (-2, None), (0, 4), (0, -1), (None, 1)):
        for chosen in (trace.cross_attention, trace.select_heads, trace.heatmap):
            assert refusal(functools.partial(chosen, layer, head)) == snapshot(name=f"layer {layer}, head {head}")
    for found in (trace.alignment, trace.cross_attention(0), trace.cross_attention(0, 1), trace.words().alignment):
        with pytest.raises(ValueError, match="read-only"):
            found[...] = 0


def test_seen_by_selects_alignment_of_heads(trace) -> None:
    seen = trace.select_heads(0, 2)
    np.testing.assert_array_equal(seen.alignment, trace.cross_alignment[0, 2])
    np.testing.assert_allclose(seen.words().alignment, trace.words().merged(trace.cross_alignment[0, 2]), atol=1e-6)
    assert seen.cross_energies is trace.cross_energies
    assert seen.fingerprint != trace.fingerprint
    assert seen is trace.select_heads(0, 2) is trace.select_heads(1, 1).select_heads(0, 2)
    assert trace.select_heads() is trace.select_heads(None) is seen.select_heads() is trace
    assert trace.select_heads(-1) is trace.select_heads(1)
    assert seen.nearest_head == (0, 2)
    assert trace.select_heads(1).nearest_head[0] == 1
    loaded = TransformerTrace.from_json(seen.to_json())
    assert loaded.heads == seen.heads
    assert loaded.fingerprint == seen.fingerprint


@pytest.mark.parametrize("kind", get_args(HeadKind))
def test_heads_have_query_rows_key_columns_and_decomposable_energies(trace, kind: HeadKind) -> None:
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
        assert one.displayed is one
        assert trace.head_named(one.name) is not None
        assert one.name == f"{kind}.{one.layer + 1}.{one.head + 1}"
        assert one.blocks[one.block % len(one.blocks)] == ("cross" if kind == "cross" else "attention")
        if kind == "decoder":
            assert one.source_pieces == ("<s>", *trace.target_pieces[:-1])
    assert trace.head_named(f"{kind}.3.1") is None


@given(st.integers(1, 200), st.integers(1, 200))
def test_a_thumbnail_keeps_the_brightest_cell(rows: int, columns: int) -> None:
    matrix = np.random.default_rng(rows * 1000 + columns).random((rows, columns))
    small = thumbnail(matrix)
    assert small.shape == (min(rows, 48), min(columns, 48))
    assert small.max() == matrix.max()
    assert set(small.ravel()) <= set(matrix.ravel())
