"""Text normalisation, the tokenizer, and grouping of pieces into words."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.text import BOS, EOS, PAD, SPACE, UNK, Tokenizer, join_pieces, normalise, typed_surfaces, word_groups
from tests.conftest import SENTENCES
from tests.snapshots import refusal
from tests.strategies import texts


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("  two\t\nwords ", "two words"),
        ("l\u2019eau \u00abvive\u00bb", 'l\'eau "vive"'),
        ("\u201cQuoted\u201d", '"Quoted"'),
        ("e\u0301te\u0301", "été"),
        ("\ufb01n \u2460 \uff21", "fin 1 A"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ("a\x00b\x7fc", "a b c"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ("fin\u00a0!", "fin !"),
        ("", ""),
        ("\u200b\n", ""),
    ],
)
def test_normalise(typed, expected) -> None:
    assert normalise(typed) == expected


@given(text=texts)
def test_any_text_can_be_encoded(tokenizer, text) -> None:
    ids = tokenizer.encode(text)
    assert all(0 <= index < len(tokenizer) for index in ids)
    assert not {PAD, BOS, EOS} & set(ids)
    assert isinstance(tokenizer.decode(ids), str)
    assert bool(tokenizer.unknown_characters(text)) == (UNK in ids)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_known_text_round_trip(tokenizer, sentence) -> None:
    assert tokenizer.decode([BOS, *tokenizer.encode(sentence), EOS]) == sentence
    assert tokenizer.unknown_characters(sentence) == ()


def test_too_small_vocabulary_is_refused(snapshot) -> None:
    assert re.sub(r"\(.*\)", "(<cause>)", refusal(lambda: Tokenizer.train(SENTENCES, 10))) == snapshot


def _words(*pieces: str) -> list[str]:
    return [join_pieces(pieces[i] for i in group) for group in word_groups(pieces)]


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (("\u2581bi", "cycle", "."), ["bicycle", "."]),
        (("\u2581L", "'", "ac", "cord"), ["L'", "accord"]),
        (("\u2581qu'", "il"), ["qu'", "il"]),
        (("\u2581don", "'", "t"), ["don't"]),
        (("\u2581aujourd", "'", "hui"), ["aujourd'hui"]),
        (("\u25811", "2", ".", "30", "!"), ["12.30", "!"]),
        (("\u2581l\u00e0", "-", "bas", "\u2581!"), ["l\u00e0-bas", "!"]),
        (("\u2581", "<unk>", "</s>"), ["<unk>", "</s>"]),
        (("<unk>", "<unk>"), ["<unk>", "<unk>"]),
        (("\u2581...", "</s>"), ["...", "</s>"]),
        (("\u2581नम", "स्", "ते", "\u2581दुनिया"), ["नमस्ते", "दुनिया"]),
        (("\u2581வண", "க்", "கம்"), ["வணக்கம்"]),
        (("\u2581كَ", "تَ", "بَ", "\u2581الطالبُ"), ["كَتَبَ", "الطالبُ"]),
        (("\u2581e\u0301te", "\u0301", "\u2581d'", "e\u0301"), ["e\u0301te\u0301", "d'", "e\u0301"]),
        (("\u2581我", "喜欢", "猫", "。"), ["我", "喜欢", "猫", "。"]),
        (("\u2581ฉัน", "ชอบ", "แม", "ว"), ["ฉัน", "ชอบ", "แม", "ว"]),
        (("\u2581", "猫", "\u2060猫", "\u2060猫", "犬"), ["猫", "犬"]),
        (("\u2581caf", "é", "\u2060é", "s"), ["cafés"]),
    ],
)
def test_words_of_pieces(pieces, words) -> None:
    assert _words(*pieces) == words


pieces_of_any_kind = st.lists(
    st.one_of(
        st.sampled_from(["<unk>", "</s>", "<s>", SPACE, SPACE * 2, "'", SPACE + "l", "-", "qu", "\u2581qu'", "."]),
        st.text(min_size=1, max_size=5).map(lambda text: text.replace(" ", SPACE)),
    ),
    min_size=1,
)


@given(pieces_of_any_kind)
def test_word_groups_partition_the_pieces_in_order(pieces) -> None:
    groups = word_groups(pieces)
    assert [index for group in groups for index in group] == list(range(len(pieces)))
    assert all(groups)
    for group in groups:
        # A blank piece, such as a space or a control character of that kind, is part of the word it stands before.
        spelled = [pieces[index] for index in group if pieces[index].replace(SPACE, " ").strip()]
        if {"<unk>", "<s>", "</s>"} & set(spelled):
            assert len(spelled) == 1


@given(st.text("abcÇŒ東£ é", min_size=1, max_size=30))
def test_surfaces_equal_typed_text(tokenizer, text) -> None:
    ids = tokenizer.encode(text)
    found = typed_surfaces((*tokenizer.pieces(ids), "</s>"), text)
    assert found == tokenizer.sentence_surfaces(text)
