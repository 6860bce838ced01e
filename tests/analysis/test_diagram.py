"""Units of vectors that are drawn: terms of source words, selection, and nearest annotations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attnviz.analysis.diagram import SHOWN_UNITS, SQUARES, WORDS, context_units, most_varied
from tests.figures.synthetic import trace as make_trace

LONGER = "The European agreement on economic questions was signed in the month of August ."


@given(st.integers(0, 60), st.sampled_from(["additive", "general"]))
def test_the_terms_add_up_to_the_context(seed: int, attention: str) -> None:
    trace = make_trace(LONGER, attention=attention, seed=seed, hidden=10)
    for step in range(len(trace.target_pieces)):
        found = context_units(trace, step)
        assert found.terms.dtype == np.float64
        np.testing.assert_allclose(found.terms.sum(axis=0), found.context, atol=1e-5)
        np.testing.assert_allclose(found.weights.sum(), 1, atol=1e-5)
        np.testing.assert_array_equal(found.context, trace.contexts[step][found.units].astype(np.float64))
        np.testing.assert_allclose(found.partial_sums[-1] + found.terms[-1], found.context, atol=1e-5)
        np.testing.assert_array_equal(found.partial_sums[0], 0)


@given(st.integers(0, 60))
def test_selected_units_deviate_most_from_their_mean(seed: int) -> None:
    trace = make_trace(LONGER, seed=seed, hidden=20)
    found = context_units(trace, 2)
    assert len(found.units) == SHOWN_UNITS
    contexts = trace.contexts.astype(np.float64)
    far = np.abs(contexts[2] - contexts.sum(axis=0) / len(contexts))
    assert (np.diff(far[found.units]) <= 1e-12).all()
    assert np.delete(far, found.units).max() <= far[found.units].min()
    np.testing.assert_allclose(found.mean, contexts[:, found.units].mean(axis=0))


@given(st.integers(0, 60))
def test_words_of_largest_weight_have_their_own_terms(seed: int) -> None:
    trace = make_trace(LONGER, seed=seed)
    words, found = trace.words(), context_units(trace, 3)
    shares = np.array([trace.alignment[3, list(group)].sum() for group in words.source_groups])
    assert len(found.words) == WORDS < len(shares)
    assert list(found.words) == sorted(found.words)
    assert np.delete(shares, found.words).max() <= shares[list(found.words)].min() + 1e-6
    np.testing.assert_allclose(found.weights[:-1], shares[list(found.words)], atol=1e-6)
    first = list(words.source_groups[found.words[0]])
    expected = sum(float(trace.alignment[3, j]) * trace.annotations[j, found.units].astype(np.float64) for j in first)
    np.testing.assert_allclose(found.terms[0], expected, atol=1e-6)


def test_cosines_use_the_whole_vectors() -> None:
    trace = make_trace()
    found = context_units(trace, 1)
    for j, annotation in enumerate(trace.annotations.astype(np.float64)):
        context = trace.contexts[1].astype(np.float64)
        cosine = float((annotation * context).sum()) / np.sqrt((annotation**2).sum() * (context**2).sum())
        assert found.cosines[j] == pytest.approx(cosine, abs=1e-9)


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
