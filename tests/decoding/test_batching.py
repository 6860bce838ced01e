"""Grouping of sentences into batches by length."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attnviz.decoding import batches


def test_batches_of_small_example() -> None:
    """Sorted 1, 2, 3, 9: twice 2 is within 6, three times 3 is not, and 9 stands alone; longer ones come first."""
    assert batches([3, 1, 9, 2], 6) == [[3, 1], [0], [2]]
    assert batches([], 6) == []


@given(st.lists(st.integers(1, 50)), st.integers(1, 100))
def test_every_sentence_is_in_one_batch_within_the_limit(lengths: list[int], most: int) -> None:
    found = batches(lengths, most)
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        assert [lengths[place] for place in batch] == sorted((lengths[place] for place in batch), reverse=True)
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= most
