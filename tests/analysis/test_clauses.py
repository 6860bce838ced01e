"""Splitting of a sentence into clauses: no word is lost, and every clause has a minimum length."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.clauses import LEAST_WORDS, Growth, beginnings, clauses
from attnviz.evaluation.sentences import TABLE_3
from tests.strategies import texts


@given(texts)
def test_clauses_join_to_the_sentence(sentence: str) -> None:
    parts = clauses(sentence)
    assert " ".join(parts) == " ".join(sentence.split())
    if len(parts) > 1:
        assert all(len(part.split()) >= LEAST_WORDS for part in parts)
    assert beginnings(parts)[-1:] == ((" ".join(sentence.split()),) if parts else ())


@given(st.lists(st.sampled_from(["that", "which", "word,", "and", "x"]), max_size=40))
def test_each_beginning_adds_one_clause(words: list[str]) -> None:
    parts = clauses(" ".join(words))
    counts = [len(beginning.split()) for beginning in beginnings(parts)]
    assert counts == np.cumsum([len(part.split()) for part in parts]).tolist()


def test_clauses_of_example_sentences() -> None:
    two, one = ("I think that he is right,", "but nobody else in the town does."), ("Two dogs play in the snow.",)
    assert clauses(" ".join(two)) == two
    assert clauses(*one) == one
    assert clauses("  ") == ()


@pytest.mark.parametrize("sentence", TABLE_3)
def test_long_sentences_of_the_paper_have_at_least_four_clauses(sentence: str) -> None:
    assert len(clauses(sentence)) >= 4


def test_growth_counts_the_words_of_each_beginning() -> None:
    found = Growth(("one two", "three"), (), (), (), "judge", ("a", "b"), np.zeros((0, 2)), np.zeros(2))
    assert found.words == (2, 3)
