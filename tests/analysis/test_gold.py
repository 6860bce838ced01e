"""Gold links of one sentence pair: parsing, validation, and errors of an alignment against them."""

import numpy as np
import pytest
from hypothesis import given
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
from attnviz.trace import Words


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


def test_invalid_or_too_many_links_are_refused(snapshot) -> None:
    words, messages = words_of(np.eye(4)), []
    assert parse_gold_links("0-0 2?1 2-1", words) == GoldLinks(frozenset({(0, 0), (2, 1)}), frozenset())
    many = " ".join(f"{k // 25}-{k % 25}" for k in range(MOST_GOLD_LINKS + 1))
    for text in ("0-0 3-0", "0-0 3-0 1-7 9-9", "1?7", "0-0 1;1", many):
        with pytest.raises(AttnvizError) as error:
            parse_gold_links(text, words_of(np.eye(26)) if text == many else words)
        messages.append(str(error.value))
    assert str(MOST_GOLD_LINKS) in messages.pop()
    assert messages == snapshot


def test_stored_links_exclude_the_end_of_sentence() -> None:
    with pytest.raises(AttnvizError, match="2-2"):
        attention("a b", "c d", np.eye(3), sure=[(0, 0), (2, 2)])
    record = attention("a b", "c d", np.eye(3), sure=[(0, 0)], possible=[(1, 1)])
    assert recorded_gold_links(record) == GoldLinks(frozenset({(0, 0)}), frozenset({(1, 1)}))
    assert not recorded_gold_links(attention("a b", "c d", np.eye(3)))
    assert parse_sure_and_possible("0-0 1?1") == recorded_gold_links(record)
