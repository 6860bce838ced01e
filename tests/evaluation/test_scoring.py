"""`alignment_error` and `attnviz score`: any link format against any gold format, with detected index base."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

import attnviz
from attnviz import AttnvizError, alignment_error, attention, read_attention
from attnviz.analysis.gold import GoldLinks
from attnviz.commands.program import main
from attnviz.evaluation.scoring import score
from tests.snapshots import plain

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


def test_scores_follow_the_definition_of_aer() -> None:
    found, sure, hits, possible_hits = 11, 9, 8, 9
    assert (EXPECTED.links, EXPECTED.sure, EXPECTED.sure_hits, EXPECTED.possible_hits) == (
        found,
        sure,
        hits,
        possible_hits,
    )
    assert EXPECTED.aer == pytest.approx(1 - (hits + possible_hits) / (found + sure))
    assert [one.aer for one in EXPECTED.sentences] == [pytest.approx(x) for x in (0, 1 / 7, 1 / 3)]


@pytest.mark.parametrize("links_base", [0, 1])
@pytest.mark.parametrize("gold_base", [0, 1])
@pytest.mark.parametrize("turned", [False, True])
def test_index_base_and_direction_are_detected(links_base: int, gold_base: int, turned: bool, tmp_path: Path) -> None:
    links = _write(tmp_path / "links", [_renumbered(one, links_base, turned) for one in LINKS])
    gold = _write(tmp_path / "gold", [_renumbered(one, gold_base) for one in GOLD])
    scored = score(links, gold)
    assert scored.error.aer == pytest.approx(EXPECTED.aer)
    assert len(scored.remarks) == 1 + turned
    if (links_base, gold_base) != (1, 1):  # two files without index 0 are ambiguous, and score alike
        assert re.findall(r"\d", scored.remarks[-1]) == [str(links_base), str(gold_base)]


def test_naacl_gold_counts_from_1_and_may_lack_last_pairs(tmp_path: Path) -> None:
    lines = []
    for number, one in enumerate(GOLD, 1):
        for link in one.split():
            j, i = link.replace("?", "-").split("-")
            lines.append(f"{number:04} {int(j) + 1} {int(i) + 1} {'P' if '?' in link else 'S'}")
    gold = _write(tmp_path / "gold.wa", lines)
    links = _write(tmp_path / "links", [*LINKS, "0-0"])
    scored = score(links, gold)
    assert scored.error.aer == pytest.approx(EXPECTED.aer)
    assert len(scored.remarks) == 2


def test_pieces_are_mapped_to_gold_words(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    record = {"id": 1, "en": ["bicycle", "red"], "fr": ["vélo", "rouge"], "S": [[0, 0], [1, 1]], "P": []}
    gold.write_text(json.dumps(record), encoding="utf-8")
    links = _write(tmp_path / "links", ["0-0 1-1 2-2"])
    marked = read_attention(links, ["bi@@ cycle red"], ["vé@@ lo rouge"])
    assert alignment_error(marked, gold).aer == 0
    cut = read_attention(links, ["bi cycle red"], ["vé lo rouge"])
    assert alignment_error(cut, gold).aer == 0  # without marks, by characters
    matrix = attention("bi@@ cycle red", "vé@@ lo rouge", np.eye(3))
    assert alignment_error([matrix], gold).aer == 0


def test_matrix_links_target_word_to_largest_weight() -> None:
    record = attention("a b", "c d", [[0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0, 0, 1]])
    found = alignment_error([record], [GoldLinks(frozenset({(1, 0), (0, 1)}))])
    assert (found.aer, found.links) == (0, 2)


def test_incomparable_links_and_gold_are_refused(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    def error_message(links: object, gold: object) -> str:
        with pytest.raises(AttnvizError) as error:
            alignment_error(links, gold)
        return plain(error.value, tmp_path)

    assert error_message(LINKS[:2], GOLD) == snapshot(name="other numbers of pairs")
    assert error_message(LINKS, ["", "", ""]) == snapshot(name="no gold links")
    assert error_message([3], ["0-0"]) == snapshot(name="no links")
    gold = attention("bi cycle", "x", [[0.5, 0.5]], sure=[(0, 0)])
    other = attention("a red bus", "x", [[1, 0, 0]])
    assert error_message([other], [gold]) == snapshot(name="other words")


def test_score_prints_and_writes_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
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
    assert attnviz.alignment_error is alignment_error
