"""Measures of an alignment: entropy, coverage, links, their scores against gold links, and drifted stretches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import attention
from attnviz.analysis.gold import GoldLinks
from attnviz.analysis.measures import (
    LEAST_ANCHORS,
    LEAST_LENGTH,
    Drift,
    attended_words,
    drifts,
    entropy,
    error_rate,
    links,
    score_links,
)


def test_entropy_and_links_of_examples() -> None:
    assert entropy([[1, 0, 0, 0], [0.25] * 4, [0.5, 0.25, 0.125, 0.125]]).tolist() == [0, 2, 1.75]
    alignment = [[0.1, 0.9, 0.0], [0.6, 0.2, 0.2], [0.4, 0.2, 0.4]]
    assert links(alignment) == [(0, 1), (0, 2), (1, 0)]
    assert links(alignment, threshold=0.4) == [(0, 1), (0, 2), (1, 0), (2, 2)]
    assert links(alignment, threshold=1.0) == []


def test_words_that_attend_to_none_more_than_to_others_attend_to_none() -> None:
    assert attended_words(attention("a b", "x y z", [[0.5, 0.5], [0, 0], [0.25, 0.75]])).tolist() == [-1, -1, 1]
    assert attended_words(attention("a", "x y", [[0], [1]])).tolist() == [-1, 0]


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
    assert score_links(found, gold, samples=0).interval == (0, 1)
    low, high = scored.interval
    assert 0 <= low <= high <= 1
    assert score_links(found, gold, samples=200).interval == scored.interval
    assert len(scored.sentences) == len(sentences)
    assert all(one.f1 is None or 0 <= one.f1 <= 1 for one in scored.sentences)


def test_the_interval_covers_the_rate_of_the_population() -> None:
    """About 95 % of the intervals of 100 samples of 60 sentences contain the true error rate."""
    chance, held = np.random.default_rng(0), 0
    gold = [GoldLinks(frozenset({(n, n) for n in range(5)}))] * 60
    for _ in range(100):
        found = [[(n, n if hit else n + 9) for n, hit in enumerate(chance.random(5) < 0.7)] for _ in gold]
        low, high = score_links(found, gold, samples=200).interval
        held += low <= 0.3 <= high
    assert 88 <= held <= 99


ENGLISH = ["In", "1992", ",", "Mr", "Smith", "and", "Ms", "Jones", "signed", "37", "letters", "in", "Paris", "."]
FRENCH = ["En", "1992", ",", "M.", "Smith", "et", "Mme", "Jones", "signèrent", "37", "lettres", "à", "Paris", "."]


def linked(columns: list[int], width: int) -> np.ndarray:
    """Return an alignment (Ty, Tx) with all weight of each row at one column; a negative column is a row of zeros."""
    rows = np.zeros((len(columns), width))
    for i, column in enumerate(columns):
        if column >= 0:
            rows[i, column] = 1
    return rows


def test_one_wrong_link_two_tokens_off_or_a_gap_is_no_drift() -> None:
    last = [*range(13), 12]
    assert drifts(linked(last, 14), ENGLISH, FRENCH) == []
    far = [0, 1, *range(12)]
    assert drifts(linked(far, 14), ENGLISH, FRENCH) == []
    gap = [0, -1, *range(1, 5), *[-1] * 8]
    assert drifts(linked(gap, 14), ENGLISH, FRENCH) == [Drift(2, 5, -1)]


def test_repeated_words_are_no_anchors() -> None:
    assert drifts(linked([0, 0, 1, 2, 3], 5), list("a.a.b"), list("a.a.b")) == []


@given(
    length=st.integers(1, 12), ahead=st.integers(0, 5), behind=st.integers(0, 5), offset=st.sampled_from([-2, -1, 1, 2])
)
def test_any_stretch_of_shared_words_is_found_exactly(length: int, ahead: int, behind: int, offset: int) -> None:
    count = ahead + length + behind
    words = [f"word{k}" for k in range(count + 4)]
    target = words[2 : 2 + count]
    columns = [i + 2 + (offset if ahead <= i < ahead + length else 0) for i in range(count)]
    found = drifts(linked(columns, count + 4), words, target)
    # A run of the right links may continue one that is off by -1 at its end, and is cut from it there.
    expected = [Drift(ahead, ahead + length - 1, offset)] if abs(offset) == 1 and length >= LEAST_LENGTH else []
    assert LEAST_ANCHORS <= LEAST_LENGTH
    assert found == expected
