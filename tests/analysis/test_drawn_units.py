"""Units drawn for a vector: those of largest variance, equally many from each encoder direction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attnviz.analysis.context_units import SQUARES, drawn_units, most_varied
from tests.figures.synthetic import trace as make_trace

VECTORS = arrays(
    np.float32, st.tuples(st.integers(1, 6), st.integers(1, 3 * SQUARES)), elements=st.floats(-9, 9, width=32)
)


@given(VECTORS)
def test_most_varied_selects_the_units_of_largest_variance(vectors: np.ndarray) -> None:
    chosen = most_varied(vectors)
    assert len(chosen) == min(SQUARES, vectors.shape[1])
    assert (np.diff(chosen) > 0).all()
    spread = np.array([np.mean((unit - unit.mean()) ** 2) for unit in vectors.T.astype(np.float64)])
    others = np.delete(spread, chosen)
    if len(others):
        assert others.max() <= spread[chosen].min() + 1e-12


@pytest.mark.parametrize("attention", ["additive", "general", "none"])
def test_both_encoder_directions_have_equally_many_units(attention: str) -> None:
    trace = make_trace(attention=attention, hidden=12)
    units = drawn_units(trace)
    assert (units.annotation[:SQUARES] < 12).all()
    assert (units.annotation[SQUARES:] >= 12).all()
    assert len(units.annotation) == 2 * SQUARES
    # A context is drawn by the units of the annotations that it is made of.
    np.testing.assert_array_equal(units.context, units.annotation[: len(units.context)])
    assert len(units.context) == (SQUARES if attention == "none" else 2 * SQUARES)
    assert max(units.context) < trace.contexts.shape[1]
