"""Two directions made one alignment: against another implementation, by hand, from files, and by the command."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from attnviz import alignment_error, read_attention, symmetrise
from attnviz.analysis.measures import SYMMETRISATION_METHODS
from attnviz.commands.main import main
from attnviz.trace.word_link_text import Link
from tests.snapshots import plain

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


def test_links_of_the_first_direction_come_first() -> None:
    for links in (["0-0 3-4 5-7 8-5", "0-1 3-4 5-7 8-5"], ["0-1 3-4 5-7 8-5", "0-0 3-4 5-7 8-5"]):
        assert symmetrise(links[:1], links[1:]).pharaoh() == f"{links[0]}\n"


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
    assert made.remarks == snapshot


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
