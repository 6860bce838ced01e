"""Negatives for a detector: each kind changes a pair by its rule, and words are exchanged within their kind."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.text import EOS, Tokenizer
from attnviz.training.negatives import (
    DROPPED,
    EXCHANGED,
    SWAPPED,
    TRAINED,
    EncodedSentences,
    Exchanges,
    Negatives,
    WordFinder,
    learn_exchanges,
    load_exchanges,
    save_exchanges,
)
from tests.snapshots import refusal
from tests.training.detection import make_pairs

PAIRS = make_pairs()


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train([side for pair in PAIRS for side in pair], 190)


@pytest.fixture(scope="module")
def encoded(tokenizer) -> list[EncodedSentences]:
    return [tuple([*tokenizer.encode(side), EOS] for side in pair) for pair in PAIRS]


@pytest.fixture(scope="module")
def sides(tokenizer, encoded) -> tuple[Exchanges, Exchanges]:
    links = np.full((len(tokenizer), 2), -1, dtype=np.int32)
    for place, verb in enumerate(("\u2581singing", "\u2581eating")):  # as though both could mean piece 7
        links[tokenizer.encode(verb.strip("\u2581"))[-1], place] = 7
    finder = WordFinder(tokenizer)
    none = np.full((len(tokenizer), 1), -1, dtype=np.int32)
    one, other = ([pair[side] for pair in encoded] for side in (0, 1))
    return learn_exchanges(one, finder, links), learn_exchanges(other, finder, none)


@pytest.fixture(scope="module")
def negatives(sides, tokenizer) -> Negatives:
    return Negatives(sides, tokenizer)


@given(place=st.integers(0, len(PAIRS) - 1), seed=st.integers(0, 10_000))
def test_exchanged_word_is_of_the_same_kind_and_a_dropped_clause_leaves_the_rest(
    negatives, encoded, place, seed
) -> None:
    finder, sides = negatives.finder, {}
    for kind in (EXCHANGED, DROPPED):
        made = negatives.make(kind, encoded, place, np.random.default_rng(seed))
        (sides[kind],) = [(a, b) for a, b in zip(encoded[place], made, strict=True) if a != b]  # one side is another
    words = [[finder.spelling(ids[a:b]) for a, b in finder.words(ids)] for ids in sides[EXCHANGED]]
    ((old, new),) = [pair for pair in zip(*words, strict=True) if pair[0] != pair[1]]
    assert (old.isdigit(), old[0].isupper()) == (new.isdigit(), new[0].isupper())
    if old.isdigit():
        assert len(old) == len(new)
        assert sorted(old) != sorted(new), "the digits must differ, not only their order"
    else:
        assert old[-2:] == new[-2:]
        assert {old, new} != {"singing", "eating"}, "linked to the same piece"
    one, other = sides[DROPPED]
    assert other[-2:] == one[-2:]
    assert not Counter(other) - Counter(one)
    assert not any(negatives._ends_clause[index] for index in other), "the comma is dropped with the clause"
    assert len(list(finder.words(other))) >= 3


def test_draws_depend_on_seed_and_have_expected_shares(negatives, encoded) -> None:
    one, other = (negatives.draw(encoded, np.random.default_rng(3)) for _ in range(2))
    assert one == other
    shares = Counter(negative.kind for negative in one)
    for kind, share in TRAINED.items():
        assert shares[kind] / len(encoded) == pytest.approx(share, abs=0.07), kind
    assert SWAPPED not in shares
    for negative, pair in zip(one, encoded, strict=True):
        assert negative.pair != pair


def test_round_trip(sides, tokenizer, tmp_path, snapshot) -> None:
    save_exchanges(tmp_path / "x.npz", sides)
    for one, other in zip(sides, load_exchanges(tmp_path / "x.npz", len(tokenizer)), strict=True):
        for name in ("words", "kinds", "counterparts"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert refusal(lambda: load_exchanges(tmp_path / "x.npz", len(tokenizer) + 1), tmp_path) == snapshot
