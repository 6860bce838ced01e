"""Links of two files: compared pair by pair, and two directions made one alignment."""

import json
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from attnviz import AttnvizError, alignment_error, attention, link_agreement, read_attention, symmetrise
from attnviz.analysis.measures import SYMMETRISATION_METHODS, error_between
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
from attnviz.trace.word_link_text import Link, parse_links
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


LINKS = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14)


def _grid(links: frozenset[Link]) -> NDArray[np.bool_]:
    grid = np.zeros((8, 8), bool)  # a margin of empty cells on each side
    for j, i in links:
        grid[j + 1, i + 1] = True
    return grid


def _by_grids(forward: frozenset[Link], reverse: frozenset[Link]) -> frozenset[Link]:
    """Return grow-diag-final-and by scanning whole grids until one scan adds nothing."""
    one, two = _grid(forward), _grid(reverse)
    made = one & two
    before = None
    while before is None or (made != before).any():
        before = made.copy()
        for j, i in np.ndindex(8, 8):
            free = not (made[j].any() and made[:, i].any())
            if (one | two)[j, i] and free and made[max(j - 1, 0) : j + 2, max(i - 1, 0) : i + 2].any():
                made[j, i] = True
    for grid in (one, two):
        for j, i in np.ndindex(8, 8):
            if grid[j, i] and not made[j].any() and not made[:, i].any():
                made[j, i] = True
    return frozenset((int(j) - 1, int(i) - 1) for j, i in np.argwhere(made))


@given(LINKS, LINKS)
def test_grow_diag_final_and_is_that_of_another_implementation(forward, reverse) -> None:
    found = SYMMETRISATION_METHODS["grow-diag-final-and"](forward, reverse)
    assert found == _by_grids(forward, reverse)
    assert forward & reverse <= found <= forward | reverse


@pytest.mark.parametrize("links", [("1-1 2-2", "1-1 2-2"), ("0-0 1-1", "1-1 2-2"), ("1-1 2-2", "0-0 1-1")])
def test_only_links_without_a_first_word_may_count_from_either_number(tmp_path, links) -> None:
    files = tmp_path / "links", tmp_path / "reverse"
    for file, line in zip(files, links, strict=True):
        file.write_text(f"{line}\n", encoding="utf-8")
    made = symmetrise(*files)
    rates = [alignment_error(made, [gold]).aer for gold in ("0-0 1-1", "1-1 2-2")]
    assert rates == [0, 0.5 * ("0-0 1-1" in links)]


def test_order_and_base_of_the_reverse_links_are_inferred_and_said(tmp_path, snapshot) -> None:
    lines, reverse = ["0-0 1-2 2-3 3-1", "0-1 1-2 2-3", "0-2 1-0 2-1"], tmp_path / "reverse"
    turned = [[link.split("-") for link in line.split()] for line in lines]
    text = "\n".join(" ".join(f"{int(i) + 1}-{int(j) + 1}" for j, i in line) for line in turned)
    reverse.write_text(text + "\n", encoding="utf-8")
    made = symmetrise(lines, reverse, "intersection")
    assert made.pharaoh() == "\n".join(lines) + "\n"
    assert made.pharaoh(swapped=True).splitlines()[1:] == ["1-0 2-1 3-2", "0-1 1-2 2-0"]
    assert made.remarks == snapshot
    for links in (["0-0 3-4 5-7 8-5", "0-1 3-4 5-7 8-5"], ["0-1 3-4 5-7 8-5", "0-0 3-4 5-7 8-5"]):
        assert symmetrise(links[:1], links[1:]).pharaoh() == f"{links[0]}\n"


def test_reverse_links_count_the_tokens_of_the_other_file(tmp_path) -> None:
    links, reverse = tmp_path / "links", tmp_path / "reverse"
    links.write_text("0-0 1-1 2-2\n", encoding="utf-8")
    reverse.write_text("0-0 1-1 2-2\n", encoding="utf-8")
    made = symmetrise(read_attention(links, ["bi@@ cycle red"], ["vé@@ lo rouge"]), reverse)
    assert made[0] == {(0, 0), (1, 1)}
    gold = tmp_path / "gold.jsonl"
    record = {"id": 1, "en": ["bi", "cycle", "red"], "fr": ["vélo", "rouge"], "S": [[1, 0], [2, 1]], "P": [[0, 0]]}
    gold.write_text(json.dumps(record), encoding="utf-8")
    assert alignment_error(made, gold).links == 2


def test_command_symmetrises_scores_writes_and_names_errors(tmp_path, capsys, snapshot) -> None:
    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    links, reverse = write("links", "0-0 1-1\n0-0 1-1\n"), write("reverse", "0-0 1-0\n0-0 0-1\n")
    gold = write("gold", "0-0 1-1\n0-0 1-1\n")
    words = ["--source-file", write("en", "the cat\nthe Cat\n"), "--target-file", write("fr", "le chat\nle chat\n")]
    command = ["score", links, "--reverse", reverse, "--gold", gold, "--samples", "10"]
    out = tmp_path / "out.pharaoh"
    assert main([*command, "--symmetrize", "union", "--errors", "2", "-o", str(out), *words]) == 0
    captured = capsys.readouterr()
    assert out.read_text(encoding="utf-8") == "0-0 1-0 1-1\n0-0 0-1 1-1\n"
    assert captured.out == snapshot(name="printed")
    assert plain(captured.err, tmp_path) == snapshot(name="said")
    assert main([*command, "--symmetrise", "intersection", "--errors", "2"]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == snapshot(name="words unknown")
    assert main([*command, "--errors", "1", "-o", str(tmp_path / "out.json"), *words]) == 0
    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert written["errors"] == [{"source": "cat", "target": "le", "linked": True, "count": 1}]
    capsys.readouterr()
    for wrong in (["score", links, "--gold", gold, "--symmetrise", "union"], [*command, "-o", str(tmp_path / "a.svg")]):
        assert main(wrong) == 2
    assert plain(capsys.readouterr().err, tmp_path) == snapshot(name="refused")
