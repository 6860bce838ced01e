"""Units of vectors that are drawn: terms of source words, selection, and nearest annotations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attnviz.analysis.diagram import SHOWN_UNITS, SQUARES, WORDS, context_units, most_varied
from attnviz.analysis.neighbours import METRICS, Metric, nearest, principal_map
from attnviz.corpora.vectors import to_float32
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
        annotations, context = trace.annotations.astype(np.float64), trace.contexts[step].astype(np.float64)
        lengths = np.sqrt((annotations**2).sum(axis=1) * (context**2).sum())
        np.testing.assert_allclose(found.cosines, annotations @ context / lengths, atol=1e-9)


@given(st.integers(0, 60))
def test_selected_units_and_words_are_those_that_differ_and_weigh_most(seed: int) -> None:
    trace = make_trace(LONGER, seed=seed, hidden=20)
    found, words = context_units(trace, 3), trace.words()
    contexts = trace.contexts.astype(np.float64)
    far = np.abs(contexts[3] - contexts.mean(axis=0))
    assert len(found.units) == SHOWN_UNITS
    assert (np.diff(far[found.units]) <= 1e-12).all()
    assert np.delete(far, found.units).max() <= far[found.units].min()
    np.testing.assert_allclose(found.mean, contexts[:, found.units].mean(axis=0))
    shares = np.array([trace.alignment[3, list(group)].sum() for group in words.source_groups])
    assert len(found.words) == WORDS < len(shares)
    assert list(found.words) == sorted(found.words)
    assert np.delete(shares, found.words).max() <= shares[list(found.words)].min() + 1e-6
    np.testing.assert_allclose(found.weights[:-1], shares[list(found.words)], atol=1e-6)
    first = list(words.source_groups[found.words[0]])
    np.testing.assert_allclose(
        found.terms[0], trace.alignment[3, first] @ trace.annotations[first][:, found.units], atol=1e-6
    )


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


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_nearest_searches_every_vector(metric: Metric, dtype: type) -> None:
    """Compare with all distances in float64, for more vectors than one block holds."""
    chance = np.random.default_rng(3)
    vectors = chance.normal(size=(20_000, 24)).astype(dtype)
    exact = vectors.astype(np.float64)
    for query in chance.normal(size=(4, 24)).astype(np.float32):
        wanted = query.astype(np.float64)
        cosines = exact @ wanted / np.sqrt((exact**2).sum(1) * (wanted**2).sum())
        distances = np.sqrt(((exact - wanted) ** 2).sum(1))
        found = nearest(vectors, query, 12, metric)
        order = np.argsort(-cosines if metric == "cosine" else distances, kind="stable")[:12]
        assert [one.row for one in found] == order.tolist()
        np.testing.assert_allclose([one.cosine for one in found], cosines[order], rtol=1e-12)
        np.testing.assert_allclose([one.distance for one in found], distances[order], rtol=1e-12)
        if dtype is np.float16:
            assert nearest(vectors, query, 12, metric, to_single=to_float32) == found


@given(st.integers(0, 40), st.integers(1, 5), st.integers(0, 50), st.sampled_from(METRICS), st.integers(0, 999))
def test_nearest_handles_any_count_ties_and_excluded_vectors(count, size, wanted, metric, seed) -> None:
    chance = np.random.default_rng(seed)
    vectors = chance.integers(-2, 3, size=(count, size)).astype(np.float16)
    query = chance.integers(-2, 3, size=size).astype(np.float32)
    without = chance.random(count) < 0.3
    found = nearest(vectors, query, wanted, metric, without)
    rows = [one.row for one in found]
    assert len(rows) == len(set(rows)) == min(wanted, count - without.sum())
    assert not without[rows].any()
    ranking = [-one.cosine if metric == "cosine" else one.distance for one in found]
    assert ranking == sorted(ranking)
    left = np.setdiff1d(np.flatnonzero(~without), rows)
    if rows and len(left):
        others = nearest(vectors[left], query, 1, metric)[0]
        last = found[-1]
        assert others.cosine <= last.cosine + 1e-9 if metric == "cosine" else others.distance >= last.distance - 1e-9


@given(st.integers(1, 30), st.integers(2, 8), st.integers(0, 999))
def test_principal_map_matches_the_singular_vectors(count: int, size: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(count, size)).astype(np.float16)
    found = principal_map(vectors)
    exact = vectors.astype(np.float64)
    _, singular, axes = np.linalg.svd(exact - exact.mean(axis=0), full_matrices=True)
    variances = np.zeros(size)
    variances[: len(singular)] = singular**2
    np.testing.assert_allclose(found.axes @ found.axes.T, np.eye(2), atol=1e-9)
    if count == 1:
        assert found.shares == (0, 0)
        return
    np.testing.assert_allclose(found.shares, variances[:2] / variances.sum(), atol=1e-9)
    # Coordinates are compared squared, as signs of axes are arbitrary; with equal variances, the axes are, too.
    along = ((exact - exact.mean(axis=0)) @ axes[:2].T) ** 2
    if np.ptp(variances[:2]) > 1e-6 and (size < 3 or variances[1] - variances[2] > 1e-6):
        np.testing.assert_allclose(found.place(vectors) ** 2, along, atol=1e-6)
    np.testing.assert_allclose(found.place(vectors).mean(axis=0), 0, atol=1e-9)
