"""Sentences and translations as ids, and their grouping into batches by length."""

from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import AttnvizError
from attnviz.decoding import all_sentence_ids, all_target_ids, batches, padded, sentence_ids, target_ids
from attnviz.text import BOS, EOS, PAD, UNK

LONGEST = 1200


@given(st.lists(st.integers(1, 50)), st.integers(1, 100))
def test_every_sentence_is_in_one_batch_within_the_limit(lengths, most) -> None:
    found = batches(lengths, most)
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        assert [lengths[place] for place in batch] == sorted((lengths[place] for place in batch), reverse=True)
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= most
    for batch, (*_, next_shortest) in pairwise(found):
        assert max(lengths[place] for place in batch) <= lengths[next_shortest]
        assert (len(batch) + 1) * lengths[next_shortest] > most, "the next sentence does not fit"


@given(st.lists(st.lists(st.integers(EOS, 99), min_size=1, max_size=9), min_size=1))
def test_shorter_rows_of_a_batch_are_filled_with_padding(rows) -> None:
    found = padded(rows)
    assert [[piece for piece in row if piece != PAD] for row in found.tolist()] == rows
    assert found.shape[1] == max(map(len, rows))


@given(st.data(), st.sampled_from([[], [EOS]]))
def test_ids_are_a_translation_if_all_have_text_and_the_last_is_the_end(tokenizer, data, end) -> None:
    known, unknown = (UNK, EOS + 1, len(tokenizer) - 1), (-1, PAD, BOS, EOS, len(tokenizer))
    ids = [*data.draw(st.lists(st.sampled_from([*known * 4, *unknown]), max_size=5)), *end]
    for given_ids in (ids, np.array(ids, dtype=np.int64)):
        with nullcontext() if ids[-1:] == [EOS] and {*ids[:-1]} <= {*known} else pytest.raises(AttnvizError):
            assert target_ids(tokenizer, given_ids) == ids


def test_longest_sentence_and_translation_have_1200_pieces(tokenizer) -> None:
    text = next(text for count in range(LONGEST) if len(tokenizer.encode(text := "#a" * 500 + "b" * count)) == LONGEST)
    ids = [UNK] * LONGEST + [EOS]
    for encode, longest, longer in (
        (sentence_ids, text, text + "b"),
        (target_ids, text, text + "b"),
        (target_ids, ids, [UNK, *ids]),
    ):
        assert len(encode(tokenizer, longest)) == LONGEST + 1
        with pytest.raises(AttnvizError, match=rf"\b{LONGEST + 1}\b.*\b{LONGEST}\b"):
            encode(tokenizer, longer)


@pytest.mark.parametrize("wrong", ["", "x" * 4001, 3, [3.5], None], ids=str)
def test_wrong_text_of_several_is_named_by_its_number(tokenizer, wrong) -> None:
    for given_texts in (["a b", wrong, "c"], ["a", "c", wrong]):
        number = given_texts.index(wrong) + 1
        with pytest.raises(AttnvizError, match=f"Translation {number}: "):
            all_target_ids(tokenizer, given_texts, 3)
        if isinstance(wrong, str):
            with pytest.raises(AttnvizError, match=f"Sentence {number}: "):
                all_sentence_ids(tokenizer, given_texts)
    for count, targets in ((2, ["a"]), (1, ["a", "b"]), (2, "ab"), (1, 3)):
        with pytest.raises(AttnvizError, match=f"{count}: one"):
            all_target_ids(tokenizer, targets, count)
