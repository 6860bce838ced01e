"""Entropy, coverage and links: values computed by hand, and bounds on random rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attnviz.analysis.measures import coverage, entropy, links

rows = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=12), elements=st.floats(0, 1)).map(
    lambda weights: (weights + 1e-9) / (weights + 1e-9).sum(axis=1, keepdims=True)
)


def test_entropy_of_example_rows() -> None:
    alignment = [[1, 0, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0, 0], [0.5, 0.25, 0.125, 0.125]]
    assert entropy(alignment).tolist() == [0, 2, 1, 1.75]


@given(rows)
def test_entropy_is_between_zero_and_that_of_a_uniform_row(alignment: np.ndarray) -> None:
    bits = entropy(alignment)
    assert bits.shape == alignment.shape[:1]
    assert (bits >= 0).all()
    assert (bits <= np.log2(alignment.shape[1]) + 1e-9).all()


@given(rows)
def test_coverage_sums_to_the_number_of_target_pieces(alignment: np.ndarray) -> None:
    assert coverage(alignment).sum() == pytest.approx(len(alignment))


def test_links_of_an_example_alignment() -> None:
    alignment = [[0.1, 0.9, 0.0], [0.6, 0.2, 0.2], [0.4, 0.2, 0.4]]
    assert links(alignment) == [(0, 1), (0, 2), (1, 0)]
    assert links(alignment, threshold=0.4) == [(0, 1), (0, 2), (1, 0), (2, 2)]
    assert links(alignment, threshold=1.0) == []
