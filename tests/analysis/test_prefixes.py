"""Prefixes of a sentence, and the source words that a translation leaves out."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.prefixes import (
    FIRST,
    MOST_PREFIXES,
    JudgedTranslation,
    PrefixTranslations,
    largest_shares,
    prefixes,
)
from attnviz.analysis.word_classes import content_words
from attnviz.evaluation.example_sentences import REFERENCE_TRANSLATIONS, TECHNOLOGY
from tests.strategies import texts


@given(texts)
def test_the_last_prefix_is_the_sentence(sentence: str) -> None:
    found = prefixes(sentence)
    words = sentence.split()
    assert found[-1:] == ((" ".join(words),) if words else ())
    assert all(" ".join(words).startswith(prefix) for prefix in found)


@given(st.integers(1, 400))
def test_prefixes_grow_evenly_and_are_few(count: int) -> None:
    counts = [len(prefix.split()) for prefix in prefixes("word " * count)]
    assert len(counts) <= MOST_PREFIXES
    assert counts[0] >= min(FIRST, count)
    assert len(set(np.diff(counts))) <= 1
    if count <= MOST_PREFIXES:
        assert counts == list(range(min(FIRST, count), count + 1))


def test_improbable_words_render_no_source_word() -> None:
    shares = np.array([[0.25, 0.75, 0.0], [0.0, 0.4, 0.6], [1.0, 0.0, 0.0]])
    logs = np.log([0.5, 0.02, 0.009])
    np.testing.assert_allclose(largest_shares(shares, logs), [0.25, 0.75, 0.6])
    np.testing.assert_allclose(largest_shares(shares[:0], logs[:0]), [0, 0, 0])


def test_only_content_words_that_no_word_renders_are_left_out() -> None:
    source = ("the", " green", " house", " fell", ".")
    judged = JudgedTranslation(
        "a b c", ("a", " b", " c"), np.log([0.5, 0.09, 0.11]), source, np.array([0, 0.4, 1, 0.5, 0])
    )
    assert content_words([word.strip() for word in source]) == judged.content == (1, 2, 3)
    assert judged.omitted == (1,)
    assert judged.improbable == 1


def test_growth_counts_the_words_of_each_prefix() -> None:
    growth = PrefixTranslations(("one two", "one two three"), (), (), "judge", ())
    assert growth.counts == (2, 3)
    assert growth.sentence == "one two three"


def test_the_built_in_sentence_is_long_and_has_a_persons_translation() -> None:
    assert 40 <= len(TECHNOLOGY.split()) <= 50
    human = REFERENCE_TRANSLATIONS[TECHNOLOGY]
    assert human.french.endswith(".")
    assert "CC BY 4.0" in human.origin
