"""Drifted stretches of an alignment: found where links are one token off, and nowhere else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.drift import LEAST_ANCHORS, LEAST_LENGTH, Drift, drifts

ENGLISH = ["In", "1992", ",", "Mr", "Smith", "and", "Ms", "Jones", "signed", "37", "letters", "in", "Paris", "."]
FRENCH = ["En", "1992", ",", "M.", "Smith", "et", "Mme", "Jones", "signèrent", "37", "lettres", "à", "Paris", "."]


def linked(columns: list[int], width: int) -> np.ndarray:
    """Return an alignment (Ty, Tx) with all weight of each row at one column; a negative column is a row of zeros."""
    rows = np.zeros((len(columns), width))
    for i, column in enumerate(columns):
        if column >= 0:
            rows[i, column] = 1
    return rows


def test_links_of_the_right_words_have_not_drifted() -> None:
    assert drifts(linked([*range(14)], 14), ENGLISH, FRENCH) == []


def test_stretch_that_is_one_token_off_is_found_with_its_direction() -> None:
    before = [0, 1, 2, 3, 4, *range(4, 13)]
    assert drifts(linked(before, 14), ENGLISH, FRENCH) == [Drift(5, 13, -1)]
    after = [*range(1, 8), 7, *range(8, 14)]
    assert drifts(linked(after, 14), ENGLISH, FRENCH) == [Drift(0, 6, 1)]


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


def test_no_tokens_have_no_drift() -> None:
    assert drifts(np.zeros((0, 0)), [], []) == []
