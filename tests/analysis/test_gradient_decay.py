"""Gradient decay: quartiles of gradient lengths by distance, on signals with a known decay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.gradient_decay import distances, gradient_quartiles, gradient_share
from attnviz.trace.parts import GradientNorms


def decaying_signals(steps: int, pieces: int, tenth: float) -> GradientNorms:
    """Return signals by s_0 that fall to a tenth within `tenth` steps, and constant signals by the contexts."""
    start = 10.0 ** -(distances(steps, pieces) / tenth)
    contexts = np.full((steps, pieces), 0.3)
    return GradientNorms(start + contexts, start, contexts)


def test_distance_counts_decoder_and_encoder_steps() -> None:
    assert distances(2, 3).tolist() == [[0, 1, 2], [1, 2, 3]]


@given(st.integers(1, 30), st.integers(1, 30), st.floats(2, 40))
def test_quartiles_are_those_of_the_signals(steps: int, pieces: int, tenth: float) -> None:
    found = gradient_quartiles(decaying_signals(steps, pieces, tenth))
    assert np.all(np.diff(found.distances) > 0)
    assert np.all(np.diff(found.start, axis=0) >= -1e-12)  # quartiles in their order
    np.testing.assert_allclose(found.contexts, 0.3)
    assert found.near[0] >= found.far[0]
    assert found.near[1] == found.far[1] == pytest.approx(0.3)


def test_medians_are_taken_over_pairs_at_equal_distance() -> None:
    rng = np.random.default_rng(2)
    start = rng.random((3, 4))
    found = gradient_quartiles(GradientNorms(start, start, start))
    apart = distances(3, 4)
    assert found.distances.tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(found.start[1], [np.median(start[apart == far]) for far in range(6)])


def test_gradient_share_of_the_attended_piece() -> None:
    whole = np.array([[3.0, 1.0], [1.0, 1.0]])
    share, alike = gradient_share(GradientNorms(whole, whole, whole), np.array([0, 1]))
    assert (share, alike) == (pytest.approx((0.75 + 0.5) / 2), 0.5)
