"""Scores of links (Och & Ney 2003) and the bootstrap interval of the alignment error rate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.alignment_error import error_rate, score_links
from attnviz.analysis.gold import GoldLinks

_links = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6)


def test_scores_of_one_pair_match_hand_computed_values() -> None:
    gold = [GoldLinks(frozenset({(0, 0), (1, 1)}), frozenset({(2, 1)}))]
    found = score_links([[(0, 0), (2, 1), (3, 3)]], gold)
    assert (found.links, found.sure, found.sure_hits, found.possible_hits) == (3, 2, 1, 2)
    assert found.aer == pytest.approx(1 - 3 / 5)
    assert (found.precision, found.recall) == (pytest.approx(2 / 3), 0.5)
    assert found.f1 == pytest.approx(2 * (2 / 3) * 0.5 / (2 / 3 + 0.5))
    assert found.interval == (pytest.approx(0.4), pytest.approx(0.4))  # one sentence is drawn again and again


@given(st.lists(st.tuples(_links, _links, _links), min_size=1, max_size=8))
def test_scores_match_error_rate_and_the_interval_is_valid(sentences: list[tuple[frozenset, ...]]) -> None:
    found = [one[0] for one in sentences]
    gold = [GoldLinks(one[1], one[2] - one[1]) for one in sentences]
    if not any(found) and not any(one.sure for one in gold):
        with pytest.raises(ValueError, match="no links"):
            score_links(found, gold)
        return
    scored, rate = score_links(found, gold, samples=200), error_rate(found, gold)
    assert scored.aer == pytest.approx(rate.aer)
    assert (scored.precision or 0) == pytest.approx(rate.precision)
    assert (scored.recall or 0) == pytest.approx(rate.recall)
    low, high = scored.interval
    assert 0 <= low <= high <= 1
    assert score_links(found, gold, samples=200).interval == scored.interval
    assert len(scored.sentences) == len(sentences)
    assert all(one.f1 is None or 0 <= one.f1 <= 1 for one in scored.sentences)


def test_the_interval_covers_the_rate_of_the_population() -> None:
    """About 95 % of the intervals of 200 samples of 60 sentences contain the true error rate."""
    chance, held = np.random.default_rng(0), 0
    gold = [GoldLinks(frozenset({(n, n) for n in range(5)}))] * 60
    for _ in range(200):
        found = [[(n, n if hit else n + 9) for n, hit in enumerate(chance.random(5) < 0.7)] for _ in gold]
        low, high = score_links(found, gold, samples=300).interval
        held += low <= 0.3 <= high
    assert 175 <= held <= 199
