"""`alignment_error` and `attnviz score`: any link format against any gold format, with detected index base."""

import dataclasses
import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attnviz
from attnviz import AttnvizError, alignment_error, attention, link_agreement, read_attention, symmetrise
from attnviz.analysis.measures import WordError
from attnviz.commands.main import main
from attnviz.evaluation.file_links import common_numbers, pair_numbers
from attnviz.evaluation.scoring import by_record, score
from attnviz.evaluation.two_files import check_pair_counts, gold_of_pair, pair_place
from attnviz.importing.records import AttentionRecords
from attnviz.importing.sentence_pair import SentencePair, Sentences
from attnviz.trace.word_link_text import Links, parse_links
from tests.snapshots import plain, refusal

LINKS = ("0-0 1-2 2-3 3-1", "0-1 1-2 2-3 3-3", "0-2 1-0 2-1")
GOLD = ("0-0 1-2 2?3 3-1", "0-1 1-2 2-3", "0-2 1-0 3-3")
EXPECTED = alignment_error(LINKS, GOLD)


def _write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def _renumbered(text: str, base: int, turned: bool = False) -> str:
    found = []
    for link in text.split():
        mark = "?" if "?" in link else "-"
        j, i = (int(place) + base for place in link.split(mark))
        found.append(f"{i}{mark}{j}" if turned else f"{j}{mark}{i}")
    return " ".join(found)


@pytest.mark.parametrize("links_base", [0, 1])
@pytest.mark.parametrize("gold_base", [0, 1])
@pytest.mark.parametrize("turned", [False, True])
def test_index_base_and_direction_are_detected(links_base, gold_base, turned, tmp_path) -> None:
    links = _write(tmp_path / "links", [_renumbered(one, links_base, turned) for one in LINKS])
    gold = _write(tmp_path / "gold", [_renumbered(one, gold_base) for one in GOLD])
    scored = score(links, gold)
    assert scored.error.aer == pytest.approx(EXPECTED.aer)
    assert len(scored.remarks) == 1 + turned
    if (links_base, gold_base) != (1, 1):  # two files without index 0 are ambiguous, and score alike
        assert re.findall(r"\d", scored.remarks[-1]) == [str(links_base), str(gold_base)]


def test_a_link_of_word_0_shows_that_its_file_counts_from_0(tmp_path) -> None:
    scored = score(_write(tmp_path / "links", ["0-0 2-2 4-4 6-6"]), ["1-1 3-3 5-5"])
    assert (scored.convention.links_base, scored.error.aer) == (0, 1)


def test_naacl_gold_counts_from_1_and_may_lack_last_pairs(tmp_path) -> None:
    lines = []
    for number, one in enumerate(GOLD, 1):
        for link in _renumbered(one, 1).split():
            places, mark = link.replace("?", " ").replace("-", " "), "P" if "?" in link else "S"
            lines.append(f"{number:04} {places} {mark}")
    links = _write(tmp_path / "links", [*LINKS, "0-0"])
    scored = score(links, _write(tmp_path / "gold.wa", lines))
    assert (scored.error.aer, len(scored.remarks)) == (pytest.approx(EXPECTED.aer), 2)


def test_pieces_are_mapped_to_gold_words(tmp_path) -> None:
    gold = tmp_path / "gold.jsonl"
    record = {"id": 1, "en": ["bicycle", "red"], "fr": ["vélo", "rouge"], "S": [[0, 0], [1, 1]], "P": []}
    gold.write_text(json.dumps(record), encoding="utf-8")
    links = _write(tmp_path / "links", ["0-0 1-1 2-2"])
    marked = read_attention(links, ["bi@@ cycle red"], ["vé@@ lo rouge"])
    assert alignment_error(marked, gold).aer == 0
    beyond = read_attention(_write(tmp_path / "beyond", ["0-0 1-1 2-2 7-7"]), ["bi@@ cycle red"], ["vé@@ lo rouge"])
    assert alignment_error(beyond, gold).aer == pytest.approx(1 - 4 / 5)
    cut = read_attention(links, ["bi cycle red"], ["vé lo rouge"])
    assert alignment_error(cut, gold).aer == 0  # without marks, by characters
    matrix = attention("bi@@ cycle red", "vé@@ lo rouge", np.eye(3))
    assert alignment_error([matrix], gold).aer == 0


@pytest.mark.parametrize(
    ("source", "target", "line"),
    [
        ("[CLS] a dog", "un chien", "0-0 1-0 2-1"),
        ("a dog", "un chien </s>", "0-0 1-1 0-2"),
        ("[CLS] a dog", "[CLS] un chien", "0-0 1-1 2-2 0-1 1-0"),
    ],
)
def test_links_of_special_tokens_are_none(source, target, line, tmp_path) -> None:
    links = read_attention(_write(tmp_path / "links", [line]), [source], [target])
    error = alignment_error(links, ["0-0 1-1"])
    assert (error.aer, error.links) == (0, 2)


def test_gold_links_in_a_record_are_gold_only_where_gold_is_read(tmp_path) -> None:
    gold = [(0, 0), (1, 1)]
    record = attention("a dog", "un chien", np.eye(2)[[0, 0]], sure=gold)
    record.save(tmp_path / "record.json")
    for links in (record, [record], read_attention(tmp_path / "record.json")):
        assert alignment_error(links, gold).aer == 0.5  # 0-1 in place of 1-1
        assert alignment_error(gold, links).aer == 0


def test_incomparable_links_and_gold_are_refused(tmp_path, snapshot) -> None:
    gold, other = attention("bi cycle", "x", [[0.5, 0.5]], sure=[(0, 0)]), attention("a red bus", "x", [[1, 0, 0]])
    refused = {"other numbers of pairs": (LINKS[:2], GOLD), "no gold links": (LINKS, ["", "", ""])}
    refused |= {"no links": ([3], ["0-0"]), "other words": ([other], [gold])}
    for name, pair in refused.items():
        assert refusal(partial(alignment_error, *pair), tmp_path) == snapshot(name=name)


def test_score_prints_and_writes_scores(tmp_path, capsys, snapshot) -> None:
    links = _write(tmp_path / "links", [_renumbered(one, 0, turned=True) for one in LINKS])
    gold = _write(tmp_path / "gold", [*GOLD])
    for ending in ("csv", "json"):
        assert main(["score", str(links), "--gold", str(gold), "-o", str(tmp_path / f"a.{ending}")]) == 0
    captured = capsys.readouterr()
    assert plain(captured.out, tmp_path) == snapshot(name="printed")
    assert plain(captured.err, tmp_path) == snapshot(name="said")
    whole = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert whole["aer"] == pytest.approx(EXPECTED.aer)
    assert len(whole["pairs"]) == 3
    assert (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()[1].startswith("1,4,3,0.0,1.0,1.0,1.0")
    assert main(["score", str(links), "--gold", str(gold), "-o", str(tmp_path / "a.xyz")]) == 2
    intervals = [alignment_error(LINKS, GOLD, samples=9, seed=seed).interval for seed in (*range(9), 0)]
    assert intervals[0] == intervals[-1]
    assert len({*intervals}) > 1


SOURCE, TARGET = ["the old cat", "the red dog", "a b"], ["le vieux chat", "le chien rouge", "c d"]
BEYOND = ("0-0 1-1 2-2", "0-0 1-1 9-9 8-8 2-3", "0-0 1-1")
WITHIN = ("0-0 1-1 2-2", "0-0 1-2 2-1", "0-0 1-1")


def test_links_out_of_range_count_as_wrong_with_and_without_sentences(tmp_path, snapshot) -> None:
    links, gold = _write(tmp_path / "links", [*BEYOND]), _write(tmp_path / "gold", [*WITHIN])
    plain_score = score(links, gold)
    with_sentences = score(read_attention(links, SOURCE, TARGET), gold)
    assert plain_score.error.aer == pytest.approx(1 / 3)
    assert plain_score.error == dataclasses.replace(with_sentences.error, word_errors=None)
    assert with_sentences.remarks[-1] == snapshot(name="scored")
    agreement = link_agreement(read_attention(links, SOURCE, TARGET), gold)
    assert agreement.pairs[1].only_first == {(1, 1), (2, 3), (8, 8), (9, 9)}
    assert agreement.remarks[-1] == snapshot(name="compared")
    for first, other in ((read_attention(gold, SOURCE, TARGET), links), (gold, read_attention(links, SOURCE, TARGET))):
        assert refusal(partial(score, first, other)) == snapshot(name="gold")
    for link in ("0-3", "3-0"):  # the word after the last
        scored = score(read_attention(_write(tmp_path / "one", [link]), SOURCE[:1], TARGET[:1]), ["0-0"])
        assert link in scored.remarks[-1]
    many = _write(tmp_path / "many", [" ".join(f"{n}-{n}" for n in range(20)), "0-0 5-5", "0-0"])
    assert score(read_attention(many, SOURCE, TARGET), gold).remarks[-1] == snapshot(name="many")
    assert refusal(lambda: read_attention(many, SOURCE, TARGET)[0]) == snapshot(name="read")


def test_sentences_show_that_links_name_the_target_first(tmp_path, snapshot) -> None:
    links = _write(tmp_path / "links", ["0-0 1-2 2-3", "0-0 1-1"])
    read = read_attention(links, ["the house is red", "a b"], ["la maison rouge", "c d"])
    scored = score(read, ["0-0 2-1 3-2", "0-0 1-1"])
    assert scored.error.aer == 0
    assert scored.remarks == snapshot


def _numbered(links: dict[int, str], first: int | None = None) -> AttentionRecords:
    def read(number: int) -> SentencePair:
        return SentencePair(links=parse_links(links[number]), line=number - (first or 1))

    return AttentionRecords(Sentences([*links], read, base=0, first=first))


def test_pairs_are_matched_by_their_numbers(snapshot) -> None:
    gold = ["0-0 1-1", "0-0", "0-0 1-2 2-1", "0-0 1-1"]
    lost = _numbered({1: "0-0 1-1", 3: "0-0 1-2 2-1", 4: "0-0 1-1"})
    scored = score(lost, gold)
    assert [one.aer for one in scored.error.sentences] == [0, 1, 0, 0]
    assert (scored.numbers, scored.places) == ((1, 2, 3, 4), (0, None, 1, 2))
    assert by_record(scored.error.sentences, scored.places) == [scored.error.sentences[n] for n in (0, 2, 3)]
    assert scored.remarks == snapshot(name="lost")
    turned = score(gold, lost)
    assert (turned.error.aer, turned.numbers, turned.places) == (0, (1, 3, 4), (0, 2, 3))
    assert turned.remarks == snapshot(name="without gold")
    assert [pair.aer for pair in link_agreement(lost, gold).pairs] == [0, 1, 0, 0]
    assert refusal(lambda: score(lost, [gold[0], *gold[2:]])) == snapshot(name="too few lines")
    far = _numbered({1: "0-0", 10**9: "0-0"})
    assert refusal(symmetrise(far, far).pharaoh) == snapshot(name="too far apart")


@pytest.mark.parametrize(("lines", "numbers"), [([0, 2], [1, 3]), ([0, 0], None), ([0, None], None), ([None, 0], None)])
def test_pairs_have_numbers_only_where_all_differ(lines, numbers) -> None:
    pairs = Sentences(lines, lambda line: SentencePair(links=parse_links("0-0"), line=line))
    assert pair_numbers(AttentionRecords(pairs)) == numbers


@given(first=st.integers(1, 9), count=st.integers(1, 9), lines=st.integers(1, 12), gap=st.booleans())
def test_numbers_of_pairs_count_lines_or_all_pairs_in_order(first, count, lines, gap) -> None:
    numbers = [*range(first, first + count)]
    numbers[1:] = numbers[1 + gap :]
    for own, theirs in ((numbers, None), (None, numbers)):
        counts = [len(given or range(lines)) for given in (own, theirs)]
        if numbers[-1] <= lines:
            *both, remark = common_numbers(own, counts[0], theirs, counts[1])
            assert [[*one] for one in both] == [one or [*range(1, lines + 1)] for one in (own, theirs)]
            assert remark == ""
        elif numbers == [*range(first, first + lines)]:
            *both, remark = common_numbers(own, counts[0], theirs, counts[1])
            assert both == [numbers, numbers]
            assert {str(first), str(numbers[-1])} <= {*re.findall(r"\d+", remark)}
        else:
            with pytest.raises(AttnvizError, match=str(numbers[-1])):
                common_numbers(own, counts[0], theirs, counts[1])


@pytest.mark.parametrize(("turned", "swapped"), [(1, False), (3, True)])
def test_another_direction_must_lower_the_error_rate_by_a_tenth(turned, swapped) -> None:
    links, gold = (["0-0"] * (20 - turned) + [link] * turned for link in ("1-0", "0-1"))
    scored = score(links, gold)
    assert (scored.convention.swapped, scored.error.aer) == (swapped, pytest.approx(0 if swapped else turned / 20))


def test_links_of_the_ends_of_blank_sentences_link_no_words(tmp_path) -> None:
    links = _write(tmp_path / "links", ["0-0 1-1 2-2", "0-0"])
    assert alignment_error(read_attention(links, ["a b", ""], ["x y", ""]), ["0-0 1-1", ""]).aer == 0


def test_damaged_pairs_count_as_lost(snapshot) -> None:
    read = [
        SentencePair({"source": "a b", "target": "c d", "matrix": [[1, 0], [0, 1]]}),
        SentencePair({}, Links(frozenset()), problem="The row is cut short."),
        SentencePair({"source": "e", "target": "f", "matrix": [[1]]}),
    ]
    damaged = AttentionRecords(Sentences([0, 1, 2], lambda place: read[place]))
    gold = ["0-0 1-1", "0-0", "0-0"]
    scored = score(damaged, gold)
    assert [one.aer for one in scored.error.sentences] == [0, 1, 0]
    assert scored.remarks == snapshot
    assert len(score(gold, damaged).error.sentences) == 2


def test_page_finds_the_gold_links_of_numbered_pairs() -> None:
    tokens = {"source": "a b c", "target": "d e f"}
    links = {1: "0-0", 3: "1-1", 4: "2-2"}
    pairs = Sentences([*links], lambda one: SentencePair(tokens, parse_links(links[one]), line=one - 1))
    numbered, lines = AttentionRecords(pairs), ["0-0", "0-1", "1-1", "2-2"]
    gold = AttentionRecords(Sentences(lines, lambda one: SentencePair(links=parse_links(one))))
    for place, number in enumerate(links, 1):
        found = gold_of_pair(gold, place, numbered, numbered[place - 1])
        assert found.sure == {tuple(map(int, links[number].split("-")))}
    check_pair_counts(gold, numbered)
    cut = dataclasses.replace(gold, pairs=dataclasses.replace(gold.pairs, items=lines[1:]))
    with pytest.raises(AttnvizError):
        check_pair_counts(cut, numbered)
    whole = dataclasses.replace(numbered, pairs=dataclasses.replace(gold.pairs, items=lines))
    assert pair_place(numbered, 3, whole, numbered[1]) == 1
    assert pair_place(numbered, 2, whole, numbered[1]) is None


def test_word_errors_are_counted(tmp_path) -> None:
    links = _write(tmp_path / "links", ["0-0 2-0", "0-0 2-0", "1-1"])
    read = read_attention(links, ["the big cat", "the big cat", "a Cat"], ["le chat", "le chat", "le chat"])
    gold = ["0-0 2-1", "0-0 2-1", "0-0 1?1"]
    assert alignment_error(read, gold).word_errors == (
        WordError("cat", "chat", linked=False, count=2),
        WordError("cat", "le", linked=True, count=2),
        WordError("a", "le", linked=False, count=1),
    )
    for sides in ({}, {"source": ["a b c"] * 3}, {"target": ["x y"] * 3}):
        assert alignment_error(read_attention(links, **sides), gold).word_errors is None
    assert alignment_error(links, ["0-0 2-0", "0-0 2-0", "1-1"]).word_errors == ()


def test_words_decide_on_the_direction(snapshot) -> None:
    sure = [(0, 0), (1, 2), (2, 1)]
    gold = attention("the black cat", "le chat noir", np.eye(3)[[0, 2, 1]], sure=sure)
    for sides, swapped in ((("le chat noir", "the black cat"), True), (("The black cat", "Le chat noir"), False)):
        scored = score([attention(*sides, np.eye(3)[[0, 2, 1]])], [gold])
        assert (scored.error.aer, scored.convention.swapped) == (0, swapped)
        assert scored.remarks == snapshot(name=f"swapped {swapped}")
        symmetrised = attnviz.symmetrise([gold], [attention(*sides, np.eye(3)[[0, 2, 1]])])
        assert symmetrised[0] == {*sure}
