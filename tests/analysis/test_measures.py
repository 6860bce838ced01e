"""Measures of an alignment: entropy, coverage, links, drifted stretches, gold links and errors against them."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attnviz import AttnvizError, attention
from attnviz.analysis.gold import (
    MOST_GOLD_LINKS,
    GoldLinks,
    PairLinks,
    link_errors,
    linkable_words,
    parse_gold_links,
    parse_sure_and_possible,
    recorded_gold_links,
)
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
    total_variation,
)
from attnviz.trace import Words


def test_variation_entropy_and_links_of_examples() -> None:
    assert total_variation(np.eye(2), np.array([[0.75, 0.25], [1, 0]])).tolist() == [0.25, 1]
    assert entropy([[1, 0, 0, 0], [0.25] * 4, [0.5, 0.25, 0.125, 0.125]]).tolist() == [0, 2, 1.75]
    alignment = [[0.1, 0.9, 0.0], [0.6, 0.2, 0.2], [0.4, 0.2, 0.4]]
    assert links(alignment) == [(0, 1), (0, 2), (1, 0)]
    assert links(alignment, threshold=0.4) == [(0, 1), (0, 2), (1, 0), (2, 2)]
    assert links(alignment, threshold=1.0) == []
    assert attended_words(attention("a b", "x y z", [[0.5, 0.5], [0, 0], [0.25, 0.75]])).tolist() == [-1, -1, 1]
    assert attended_words(attention("a", "x y", [[0], [1]])).tolist() == [-1, 0]


_links = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6)


def test_scores_of_one_pair_match_hand_computed_values_and_intervals_cover_the_rate() -> None:
    """About 95 % of the intervals of 100 samples of 60 sentences contain the true error rate."""
    gold = [GoldLinks(frozenset({(0, 0), (1, 1)}), frozenset({(2, 1)}))]
    found = score_links([[(0, 0), (2, 1), (3, 3)]], gold)
    assert (found.links, found.sure, found.sure_hits, found.possible_hits) == (3, 2, 1, 2)
    assert found.aer == pytest.approx(1 - 3 / 5)
    assert (found.precision, found.recall) == (pytest.approx(2 / 3), 0.5)
    assert found.f1 == pytest.approx(2 * (2 / 3) * 0.5 / (2 / 3 + 0.5))
    assert found.interval == (pytest.approx(0.4), pytest.approx(0.4))  # one sentence is drawn again and again
    chance, held = np.random.default_rng(0), 0
    gold = [GoldLinks(frozenset({(n, n) for n in range(5)}))] * 60
    for _ in range(100):
        found = [[(n, n if hit else n + 9) for n, hit in enumerate(chance.random(5) < 0.7)] for _ in gold]
        low, high = score_links(found, gold, samples=200).interval
        held += low <= 0.3 <= high
    assert 88 <= held <= 99


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


ENGLISH = ["In", "1992", ",", "Mr", "Smith", "and", "Ms", "Jones", "signed", "37", "letters", "in", "Paris", "."]
FRENCH = ["En", "1992", ",", "M.", "Smith", "et", "Mme", "Jones", "signèrent", "37", "lettres", "à", "Paris", "."]


def linked(columns: list[int], width: int) -> np.ndarray:
    """Return an alignment (Ty, Tx) with all weight of each row at one column; a negative column is a row of zeros."""
    rows = np.zeros((len(columns), width))
    for i, column in enumerate(columns):
        if column >= 0:
            rows[i, column] = 1
    return rows


def test_single_wrong_links_gaps_and_repeated_words_are_no_drift() -> None:
    last = [*range(13), 12]
    assert drifts(linked(last, 14), ENGLISH, FRENCH) == []
    far = [0, 1, *range(12)]
    assert drifts(linked(far, 14), ENGLISH, FRENCH) == []
    gap = [0, -1, *range(1, 5), *[-1] * 8]
    assert drifts(linked(gap, 14), ENGLISH, FRENCH) == [Drift(2, 5, -1)]
    assert drifts(linked([0, 0, 1, 2, 3], 5), list("a.a.b"), list("a.a.b")) == []


@example(length=LEAST_LENGTH - 1, ahead=2, behind=2, offset=1)
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


def words_of(shares: np.ndarray, end: bool = True) -> Words:
    """Return words a0, a1, … and b0, b1, … with these shares between them; the last of each is `</s>`."""
    rows, columns = shares.shape
    source, target = [f"a{j}" for j in range(columns)], [f"b{i}" for i in range(rows)]
    if end:
        source[-1] = target[-1] = "</s>"
    groups = [tuple((k,) for k in range(count)) for count in (columns, rows)]
    return Words(tuple(source), tuple(target), shares.astype(np.float32), *groups)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Words, GoldLinks]:
    rows, columns = draw(st.integers(2, 6)), draw(st.integers(2, 6))
    numbers = draw(st.lists(st.integers(0, 20), min_size=rows * columns, max_size=rows * columns))
    end = draw(st.booleans())
    cell = st.tuples(st.integers(0, columns - 1 - end), st.integers(0, rows - 1 - end))
    sure, possible = draw(st.frozensets(cell, max_size=8)), draw(st.frozensets(cell, max_size=8))
    return words_of(np.array(numbers).reshape(rows, columns) / 20, end), GoldLinks(sure, possible - sure)


@given(pairs())
def test_link_errors_match_the_definition(pair: tuple[Words, GoldLinks]) -> None:
    """Och & Ney 2003, Eq. for AER, counted over whole matrices in float64."""
    words, gold = pair
    source, target = map(len, linkable_words(words))
    shares = words.alignment.astype(np.float64)[:target, :source]
    found, sure, at_least = (np.zeros((target, source), bool) for _ in range(3))
    for i, row in enumerate(shares):
        found[i, row.argmax()] = row.any()
    for j, i in gold.sure:
        sure[i, j] = at_least[i, j] = True
    for j, i in gold.possible:
        at_least[i, j] = True
    mutual = found & (shares == shares.max(axis=0)) & (np.arange(target)[:, None] == shares.argmax(axis=0))

    errors = link_errors(words, gold)
    assert [(j, i) for i, j in np.argwhere(sure & ~found).tolist()] == list(errors.missed)
    assert [(j, i) for i, j in np.argwhere(found & ~at_least).tolist()] == list(errors.false)
    for links_of, rate in ((found, errors.rate), (mutual, errors.mutual)):
        size = links_of.sum() + sure.sum()
        if not size:
            assert rate is None
            continue
        assert rate is not None
        hits = (links_of & sure).sum() + (links_of & at_least).sum()
        assert rate.aer == pytest.approx(1 - hits / size)
        assert rate.precision == pytest.approx((links_of & at_least).sum() / max(links_of.sum(), 1))
        assert rate.recall == pytest.approx((links_of & sure).sum() / max(sure.sum(), 1))


@given(pairs())
def test_links_round_trip_and_their_digest_identifies_the_words(pair: tuple[Words, GoldLinks]) -> None:
    words, gold = pair
    source, target = linkable_words(words)
    stored, longer = PairLinks.of(source, target, gold), PairLinks.of((*source, "more"), target, gold)
    other, swapped = PairLinks.of(source, (*target, "more"), gold), PairLinks.of(target, source, gold)
    mark = stored.digest
    assert len(mark) == 12
    assert longer.digest[6:] == mark[6:]
    assert longer.digest[:6] != mark[:6] != swapped.digest[:6]
    assert (stored.joins(words), stored.joins_source(words)) == (True, True)
    assert (other.joins(words), other.joins_source(words)) == (False, True)
    assert not longer.joins_source(words)
    if gold:
        assert parse_gold_links(gold.text(), words) == parse_gold_links(gold.text().replace("?", "p"), words) == gold
        assert [PairLinks.parse(one.text(), words) for one in (stored, other)] == [stored, other]
        assert PairLinks.parse(stored.text().partition(".")[2], words) == stored  # without digest


def test_links_that_are_invalid_too_many_or_of_the_end_are_refused(snapshot) -> None:
    words, messages = words_of(np.eye(4)), []
    assert parse_gold_links("0-0 2?1 2-1", words) == GoldLinks(frozenset({(0, 0), (2, 1)}), frozenset())
    many = " ".join(f"{k // 25}-{k % 25}" for k in range(MOST_GOLD_LINKS + 1))
    for text in ("0-0 3-0", "0-0 3-0 1-7 9-9", "1?7", "0-0 1;1", many):
        with pytest.raises(AttnvizError) as error:
            parse_gold_links(text, words_of(np.eye(26)) if text == many else words)
        messages.append(str(error.value))
    assert str(MOST_GOLD_LINKS) in messages.pop()
    assert messages == snapshot
    with pytest.raises(AttnvizError, match="2-2"):
        attention("a b", "c d", np.eye(3), sure=[(0, 0), (2, 2)])
    record = attention("a b", "c d", np.eye(3), sure=[(0, 0)], possible=[(1, 1)])
    assert recorded_gold_links(record) == GoldLinks(frozenset({(0, 0)}), frozenset({(1, 1)}))
    assert not recorded_gold_links(attention("a b", "c d", np.eye(3)))
    assert parse_sure_and_possible("0-0 1?1") == recorded_gold_links(record)
