"""Grouping of sentences into batches by length."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attnviz.decoding import batches


@given(st.lists(st.integers(1, 50)), st.integers(1, 100))
def test_every_sentence_is_in_one_batch_within_the_limit(lengths: list[int], most: int) -> None:
    found = batches(lengths, most)
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        assert [lengths[place] for place in batch] == sorted((lengths[place] for place in batch), reverse=True)
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= most
