"""Links of two programs compared pair by pair: shared links, links of one only, error rate, and words that differ."""

import json
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import AttnvizError, attention, link_agreement, read_attention
from attnviz.analysis.measures import error_between
from attnviz.commands.main import main
from attnviz.evaluation.two_files import (
    check_pair_counts,
    check_same_pair,
    pair_place,
    pair_with_words_of,
    with_tokens_of,
)
from attnviz.importing.attention_reader import records_of
from attnviz.importing.records import AttentionRecords
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.reading import content_of
from attnviz.trace.word_link_text import parse_links
from tests.snapshots import plain, refusal

Files = tuple[Path, Path]
LINK_SETS = st.lists(
    st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1), min_size=3, max_size=3
).map(lambda pairs: [pair | {(0, 0)} for pair in pairs])


@pytest.fixture
def files(tmp_path) -> Files:
    """Return a file of links with the sentences, and one of links that count from 1, without them."""
    first, other = tmp_path / "first.txt", tmp_path / "other.pharaoh"
    first.write_text("a red car\tune voiture rouge\t0-0 1-2 2-1\nit rains\til pleut\t0-0 1-1\n", encoding="utf-8")
    other.write_text("1-1 2-3 2-2\n1-1 2-2\n", encoding="utf-8")
    return first, other


def records_with(pairs: list[dict[str, str]], line: int | None = None) -> AttentionRecords:
    return AttentionRecords(Sentences(pairs, lambda pair: SentencePair(pair, parse_links("0-0"), line=line)))


@given(LINK_SETS, LINK_SETS)
def test_agreement_counts_every_link_once(first, other) -> None:
    agreement = link_agreement(first, other)
    turned = link_agreement(other, first)
    for pair, one, two in zip(agreement.pairs, first, other, strict=True):
        if (pair.first, pair.other) != (one, two):  # the other direction fits clearly better
            return
        assert pair.shared | pair.only_first == one
        assert pair.shared | pair.only_other == two
        assert not pair.only_first & pair.only_other
        assert not pair.shared & (pair.only_first | pair.only_other)
        assert pair.aer == pytest.approx(1 - 2 * len(one & two) / (len(one) + len(two)))
    assert agreement.aer == pytest.approx(turned.aer)
    assert error_between([]) is None


def test_files_are_matched_by_position_and_missing_tokens_come_from_the_other(files) -> None:
    first, other = map(read_attention, files)
    for text, name in ((b"0-0\n0-0\n0-0\n", "pharaoh"), (b"0\t0-0\n2\t0-0\n", "simalign")):
        unlike = records_of([content_of(text)], name=name)
        assert with_tokens_of(unlike, first) is unlike, "three pairs, and pairs 0 and 2"
    other = with_tokens_of(other, first)
    assert other[0].links == ((0, 0), (1, 1), (1, 2))
    agreement = link_agreement(first, other)
    assert [(pair.only_first, pair.only_other) for pair in agreement.pairs] == [({(2, 1)}, {(1, 1)}), (set(), set())]
    assert agreement.pairs[1].aer == 0
    assert agreement.aer == pytest.approx(1 - 2 * 4 / 10)


def test_links_without_tokens_count_words_where_they_fit_them(tmp_path) -> None:
    # One matrix over pieces, whose words are "the red sailboat" and "das Segelboot".
    matrix = attention(["▁the", "▁red", "▁sail", "boat"], ["▁das", "▁Segel", "boot"], np.eye(4)[[0, 2, 3]])
    words, pieces = tmp_path / "words.pharaoh", tmp_path / "pieces.pharaoh"
    matrix.save(tmp_path / "matrix.json")
    words.write_text("0-0 2-1\n", encoding="utf-8")
    pieces.write_text("0-0 2-1 3-2\n", encoding="utf-8")
    records = read_attention(tmp_path / "matrix.json")
    for links in map(read_attention, (words, pieces)):
        assert link_agreement(records, with_tokens_of(links, records)).aer == 0


def test_words_that_differ_are_reported_or_refused(snapshot) -> None:
    first, lower = (attention(text, "La maison", np.eye(2)) for text in ("The house", "the house"))
    assert link_agreement([first, first], [first, lower]).remarks == snapshot(name="lower case")
    numbered = (records_with([{"source": text, "target": "x y"}], line=6) for text in ("The house", "the house"))
    assert link_agreement(*numbered).remarks == snapshot(name="numbered")
    dog, big = attention("a dog", "La maison", np.eye(2)), attention("The big house", "La maison", np.eye(2, 3))
    refused = {"a dog": [dog], "The big house": [big], "another number of pairs": [first, first]}
    for name, other in refused.items():
        assert refusal(partial(link_agreement, [first], other)) == snapshot(name=name)


@pytest.mark.parametrize(
    ("sides", "place"),
    [
        ([("a dog", "un chien"), ("the bi@@ cycle", "le vélo")], 1),
        ([("a dog", "le vélo"), ("THE bicycle", None)], 1),
        ([(None, "un vélo"), (None, "le vélo"), (None, "le vélo")], 1),
        ([(None, None), ("the bicycle", "un vélo")], None),
        ([(None, None)], 0),
        ([("a dog", "un chien")], 0),
    ],
)
def test_pair_is_found_by_its_words(sides, place) -> None:
    fields = [{name: text for name, text in zip(("source", "target"), pair, strict=True) if text} for pair in sides]
    records = records_with(fields)
    shown = attention("The bicycle", "Le vélo", np.eye(2))
    assert pair_place(records, 1, None, shown) == place
    by_words = place if len(sides) > 1 else None
    assert pair_with_words_of(records, shown) == by_words
    assert pair_place(records, 2, records_with([{}] * 3), shown) == (0 if sides == [(None, None)] else by_words)


@pytest.mark.parametrize(
    ("count", "size", "words", "refused"),
    [(1, 3, "", False), (3, 3, "", False), (2, 3, "", True), (3, 2, "a", True), (2, 1, "", True), (2, 1, "a", False)],
)
def test_other_numbers_of_pairs_are_refused(count, size, words, refused) -> None:
    """But for one pair, or many for one whose words say which it is."""
    fields = {"source": words, "target": words} if words else {}
    with pytest.raises(AttnvizError) if refused else nullcontext():
        check_pair_counts(records_with([fields] * count), records_with([fields] * size))


WORDS = st.lists(st.sampled_from(["a", "A", "ab", "b", "c"]), min_size=1, max_size=3)


@given(WORDS, WORDS)
def test_same_pair_has_the_same_letters_or_a_word_in_its_place(own, theirs) -> None:
    records = [attention(words, "x", np.full((1, len(words)), 1 / len(words))) for words in (own, theirs)]
    one, other = (" ".join(words).casefold().split() for words in (own, theirs))
    in_place = len(one) == len(other) and any(a == b for a, b in zip(one, other, strict=True))
    with nullcontext() if in_place or "".join(one) == "".join(other) else pytest.raises(AttnvizError):
        check_same_pair(*records)


@pytest.mark.usefixtures("files")
def test_command_prints_draws_and_writes_the_comparison(tmp_path, capsys, monkeypatch, snapshot) -> None:
    monkeypatch.setattr("attnviz.export.images.image", lambda figure, ending: f"{ending} {figure.to_json()}".encode())
    command = ["attention", str(tmp_path / "first.txt"), "--compare", str(tmp_path / "other.pharaoh")]
    assert main(command) == 0
    captured = capsys.readouterr()
    assert captured.out == snapshot(name="table")
    assert plain(captured.err, tmp_path) == snapshot(name="how they were read")
    for ending in ("svg", "json", "csv"):
        assert main([*command, "-o", str(tmp_path / f"out.{ending}")]) == 0
    drawn = (tmp_path / "out.svg").read_text(encoding="utf-8")
    assert drawn.startswith("svg ")
    assert "other.pharaoh minus first.txt" in drawn
    assert "voiture" in drawn
    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    links = {"both": "0-0 1-2", "only_first": "2-1", "only_other": "1-1"}
    assert written["pairs"][0] == links | {"pair": 1, "aer": pytest.approx(1 / 3)}
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[1].startswith("1,0-0 1-2,2-1,1-1,0.33")
    capsys.readouterr()
    assert main([*command, "-o", str(tmp_path / "out.tex")]) == 2
    assert plain(capsys.readouterr().err, tmp_path) == snapshot(name="another ending")
    assert main([*command, "--sentence", "3"]) == 2
