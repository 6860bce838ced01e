"""Nearest neighbours and the principal component map, against independent float64 computations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.neighbours import METRICS, Metric, nearest, principal_map
from attnviz.corpora.vectors import to_float32


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
def test_nearest_handles_any_count_ties_and_excluded_vectors(
    count: int, size: int, wanted: int, metric: Metric, seed: int
) -> None:
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


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(ValueError, match="metric"):
        nearest(np.eye(3), np.ones(3), metric="manhattan")  # type: ignore[arg-type]


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
