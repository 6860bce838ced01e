"""Situations that people reported in public: their files are read right, or refused with what to do instead.

Each test names the report. Other modules test the situations that need a model (`test_huggingface_models`) or a
checkpoint (`test_imported_models`, `test_toolkits`), and the sentences in any script (`analysis/test_isolation`).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pyarrow import csv
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError, attention, from_huggingface, read_attention
from attnviz.commands.main import main
from attnviz.export.html_table import heatmap_html
from attnviz.export.saved_files import FigureOptions, contents
from attnviz.text import without_isolates
from tests.saved_pages import saved_view
from tests.snapshots import plain
from tests.ui.opening import open_page, upload
from tests.ui.shown_payloads import heatmap_of, panel_texts, tables_of

SOURCES, TARGETS = ("das ist ein Haus .", "guten Morgen"), ("this is a house .", "good morning")
LINKS = ("0-0 1-1 2-2 3-3 4-4", "0-1 1-0")
FROM_1 = ("1-1 2-2 3-3 4-4 5-5", "1-2 2-1")
TO_END = ("0-0 1-1 2-2 3-3 4-4 5-5", "0-1 1-0 2-2")
"""The links with those of both ends, `</s>`, as programs write them that align the ends too."""


def _weights(number: int) -> np.ndarray:
    """Return weights (Ty, Tx), `</s>` included, whose largest in each row are the links."""
    pairs = [tuple(map(int, link.split("-"))) for link in TO_END[number].split()]
    matrix = np.full((len(pairs), len(pairs)), 0.1 / (len(pairs) - 1))
    for j, i in pairs:
        matrix[i, j] = 0.9
    return matrix


def _rows(matrix: np.ndarray) -> str:
    return "".join(" ".join(f"{weight:.6f}" for weight in row) + "\n" for row in matrix)


def _groups(matrix: np.ndarray) -> str:
    return " ".join(",".join(f"{weight:.6f}" for weight in row) for row in matrix)


def _lines(line: Callable[[int], str]) -> str:
    return "".join(line(number) + "\n" for number in (0, 1))


def _log(alignments: Sequence[str]) -> str:
    """Return a log of fairseq-generate, which writes the sentences of a batch by length."""
    return "".join(
        f"S-{n}\t{SOURCES[n]}\nT-{n}\t{TARGETS[n]}\nH-{n}\t-0.2\t{TARGETS[n]}\nP-{n}\t-0.1\nA-{n}\t{alignments[n]}\n"
        for n in (1, 0)
    )


@dataclass(frozen=True)
class Situation:
    """A file that people have, and what they have besides it."""

    report: str
    content: str
    sides: str = ""
    """Which sentences are in files: "source", "source target" or none."""
    links: Sequence[str] = LINKS
    marked: bool = False
    """Whether a person marked the links, so that they are in no other form."""


READ = (
    Situation(
        "sockeye 135, 385: six fields and rows of weights",
        _lines(
            lambda n: (
                f"{n} ||| {TARGETS[n]} ||| -1.23 ||| {SOURCES[n]} ||| {len(SOURCES[n].split()) + 1} ||| "
                f"{len(TARGETS[n].split()) + 1}\n{_rows(_weights(n))}"
            )
        ),
    ),
    Situation(
        "SoftAlignments 10: five fields and rows of weights",
        _lines(
            lambda n: (
                f"{n} ||| {TARGETS[n]} ||| -1.23 ||| {SOURCES[n]} ||| {len(SOURCES[n].split()) + 1} "
                f"{len(TARGETS[n].split()) + 1}\n{_rows(_weights(n))}"
            )
        ),
    ),
    Situation("fairseq 2634: hard links in a log", _log(LINKS)),
    Situation("fairseq 2987: weights in a log", _log([_groups(_weights(n)) for n in (0, 1)])),
    Situation("fairseq 3494: source positions in a log", _log(("0 1 2 3 4", "1 0"))),
    Situation("fairseq 4446: A- lines alone", f"A-1\t{LINKS[1]}\nA-0\t{LINKS[0]}\n", "source target"),
    Situation("marian-dev 775: marian-scorer", _lines(lambda n: f"-12.345678 ||| {TO_END[n]}"), "source target"),
    Situation("awesome-align 20: links counted from 1", _lines(lambda n: FROM_1[n]), "source target"),
    Situation(
        "fast_align input: source ||| target ||| links ||| score",
        _lines(lambda n: f"{SOURCES[n]} ||| {TARGETS[n]} ||| {LINKS[n]} ||| -4.5"),
    ),
    Situation("cdec 40: the same without a score", _lines(lambda n: f"{SOURCES[n]} ||| {TARGETS[n]} ||| {LINKS[n]}")),
    Situation("sockeye: translation and links", _lines(lambda n: f"{TARGETS[n]}\t{LINKS[n]}"), "source"),
    Situation("simalign: number and links", _lines(lambda n: f"{n}\t{LINKS[n]}"), "source target"),
    Situation("cdalign 2: possible links", "0-0 1?2\n0p1 1-0\n", "source target", ("0-0 1?2", "0?1 1-0"), marked=True),
    Situation(
        "awesome-align 26: links with probabilities",
        _lines(lambda n: " ".join(f"{link}:0.9" for link in LINKS[n].split())),
        "source target",
    ),
    Situation("OpenNMT-py 2435: prediction and links", _lines(lambda n: f"{TARGETS[n]} ||| {LINKS[n]}"), "source"),
)


@pytest.fixture
def sides(tmp_path: Path) -> Path:
    (tmp_path / "source").write_text("\n".join(SOURCES) + "\n", encoding="utf-8")
    (tmp_path / "target").write_text("\n".join(TARGETS) + "\n", encoding="utf-8")
    return tmp_path


def _run(*arguments: object) -> int:
    return main([str(one) for one in arguments])


def _given(folder: Path, sides: str) -> list[str]:
    return [part for side in sides.split() for part in (f"--{side}-file", str(folder / side))]


@pytest.mark.parametrize("situation", READ, ids=lambda one: one.report)
def test_reported_file_is_read_right(
    sides: Path, situation: Situation, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    file = sides / "file"
    file.write_text(situation.content, encoding="utf-8")
    given = _given(sides, situation.sides)
    assert _run("attention", file, *given) == 0
    printed = capsys.readouterr()
    assert printed.out == "".join(
        f"{s}\t{t}\t{links}\n" for s, t, links in zip(SOURCES, TARGETS, situation.links, strict=True)
    )
    assert plain(printed.err, sides) == snapshot(name="attention")
    (sides / "gold").write_text("".join(f"{one}\n" for one in FROM_1), encoding="utf-8")
    assert _run("score", file, "--gold", sides / "gold", *given) == 0
    printed = capsys.readouterr()
    assert ("(AER): 0.000" in printed.out) is not situation.marked
    assert plain(printed.err, sides) == snapshot(name="score")


REFUSED = {
    "marian 122: n-best list without alignments": _lines(lambda n: f"{n} ||| {TARGETS[n]} ||| -1.23"),
    "fairseq 2634: log without alignments": _log(LINKS).replace("A-", "B-"),
    "awesome-align 26: probabilities without links": "0.9 0.8 0.7\n0.9\n",
    "eole 222: a line without links among translations": "a ||| 0-0\nb\n",
}


@pytest.mark.parametrize("report", REFUSED)
def test_reported_file_is_refused_with_what_to_do(
    sides: Path, report: str, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    (sides / "file").write_text(REFUSED[report], encoding="utf-8")
    assert _run("attention", sides / "file", *_given(sides, "source target")) == 2
    assert plain(capsys.readouterr().err, sides) == snapshot


BLANK = {
    "fast_align 62: a line without links": (f"{LINKS[0]}\n\n{LINKS[1]}\n", "z w"),
    "fast_align 62: a blank line in all files": (f"{LINKS[0]}\n\n{LINKS[1]}\n", ""),
    "eole 222: a prediction without links": (f"{TARGETS[0]} ||| {LINKS[0]}\nc |||\n{TARGETS[1]} ||| {LINKS[1]}\n", "z"),
    "eole 222: a blank prediction": (f"{TARGETS[0]} ||| {LINKS[0]}\n |||\n{TARGETS[1]} ||| {LINKS[1]}\n", "z"),
    "marian: a blank line": (f"{TARGETS[0]} ||| {LINKS[0]}\n\n{TARGETS[1]} ||| {LINKS[1]}\n", "z"),
}


@pytest.mark.parametrize("report", BLANK)
def test_pair_without_links_keeps_its_number(
    tmp_path: Path, report: str, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    content, middle = BLANK[report]
    (tmp_path / "file").write_text(content, encoding="utf-8")
    for side, sentences in (("source", SOURCES), ("target", TARGETS)):
        (tmp_path / side).write_text(f"{sentences[0]}\n{middle}\n{sentences[1]}\n", encoding="utf-8")
    given = _given(tmp_path, "source" if "|||" in content else "source target")
    assert _run("attention", tmp_path / "file", *given, "-o", tmp_path / "made.pharaoh") == 0
    assert (tmp_path / "made.pharaoh").read_text(encoding="utf-8") == f"{LINKS[0]}\n\n{LINKS[1]}\n"
    assert plain(capsys.readouterr().err, tmp_path) == snapshot
    assert _run("attention", tmp_path / "file", *given, "--sentence", 3) == 0
    assert capsys.readouterr().out == f"{SOURCES[1]}\t{TARGETS[1]}\t{LINKS[1]}\n"
    assert _run("attention", tmp_path / "file", *given, "--table", tmp_path / "table.csv") == 0
    numbers = csv.read_csv(tmp_path / "table.csv")["number"].to_pylist()
    assert numbers == ([1, 3] if "blank" in report else [1, 2, 3])
    (tmp_path / "gold").write_text(f"{LINKS[0]}\n\n{LINKS[1]}\n", encoding="utf-8")
    assert _run("score", tmp_path / "file", *given, "--gold", tmp_path / "gold") == 0


def test_blank_pair_of_a_file_is_refused_alone(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    (tmp_path / "links").write_text(f"{LINKS[0]}\n\n", encoding="utf-8")
    records = read_attention(tmp_path / "links", [SOURCES[0], ""], [TARGETS[0], ""])
    assert [records.is_blank(0), records.is_blank(1)] == [False, True]
    assert len(records[0].links) == 5
    with pytest.raises(AttnvizError) as error:
        records[1]
    assert str(error.value) == snapshot


def test_neuralmonkey_108_tensor_of_five_padded_sentences(snapshot: SnapshotAssertion) -> None:
    rng, batch = np.random.default_rng(0), np.zeros((5, 50, 50))
    weights = rng.random((5, 10, 12))
    weights /= weights.sum(axis=-1, keepdims=True)
    batch[:, :12, :10] = weights.transpose(0, 2, 1)  # columns add up to 1
    source, target = (" ".join(f"{side}{n}" for n in range(count)) for side, count in (("s", 11), ("t", 9)))
    records = read_attention(batch, [source] * 5, [target] * 5)
    assert np.allclose([record.alignment for record in records], weights)
    assert set(records[0].remarks) == {"source-end", "target-end", "transposed", "padding"}
    with pytest.raises(AttnvizError) as error:
        read_attention(batch)[0]
    assert str(error.value) == snapshot


def test_transformers_11788_tuples_of_generate_as_they_are(snapshot: SnapshotAssertion) -> None:
    steps = torch.softmax(torch.arange(120, dtype=torch.float32).sin().reshape(4, 3, 1, 2, 1, 5), -1)
    given = tuple(tuple(layer for layer in step) for step in steps)
    record = read_attention(given, ["a b c d"], ["e f g"])[0]
    assert np.allclose(record.head_weights, steps[:, :, 0, :, 0].permute(1, 2, 0, 3).numpy(), atol=1e-6)
    for call in (
        lambda: attention("a b c d", "e f g", given),  # type: ignore[arg-type]
        lambda: from_huggingface(given, None, "a b c d"),
        lambda: read_attention(given)[0],
        lambda: read_attention(
            tuple(tuple(layer.repeat(4, 1, 1, 1) for layer in step) for step in given), ["a"], ["b"]
        ),
    ):
        with pytest.raises(AttnvizError) as error:
            call()
        assert str(error.value) == snapshot


SCRIPTS = {
    "BertViz 40, Chinese": ("▁ 我 今天 很 高兴 。", "▁I ▁am ▁happy ▁today .", ("我", "今天", "很", "高兴", "。")),
    "BertViz 40, Japanese": ("▁ 私は 学生 です 。", "▁I ▁am ▁a ▁student .", ("私は", "学生", "です", "。")),
    "matplotlib 29357, Hindi": ("▁मैं ▁हि ंदी ▁बोल ता ▁हूँ", "▁I ▁speak ▁Hin di", ("मैं", "हिंदी", "बोलता", "हूँ")),
    "matplotlib 29357, Thai": ("▁ ฉัน เป็น นักเรียน", "▁I ▁am ▁a ▁student", ("ฉัน", "เป็น", "นักเรียน")),
    "matplotlib 30557, Hebrew": ("▁ה בית ▁ה ירוק ▁גדול .", "▁the ▁house ▁is ▁big .", ("הבית", "הירוק", "גדול", ".")),
    "matplotlib 30557, Arabic": ("▁كَت َبَ ▁الط الب ُ", "▁he ▁wrote", ("كَتَبَ", "الطالبُ")),
}


@pytest.mark.parametrize("report", SCRIPTS)
def test_words_of_any_script_stand_for_themselves(report: str) -> None:
    source, target, words = SCRIPTS[report]
    sizes = len(target.split()), len(source.split())
    record = attention(source, target, np.full(sizes, 1 / sizes[1]))
    assert record.words().source == words
    app = open_page()
    upload(app, "mine.json", record.to_json().encode())
    assert panel_texts(app, "notice")
    names = [name.partition(" ")[2] for name in tables_of(app, by="words")[0]["columns"][1:]]
    assert tuple(map(without_isolates, names)) == words
    right_to_left = "Hebrew" in report or "Arabic" in report
    assert any(name.startswith("\u2068") for name in names) is right_to_left


def _cells(drawn: dict[str, Any]) -> np.ndarray:
    """Return the values of the cells of a heatmap in a figure or payload."""
    z = drawn["data"][0]["z"]
    if not isinstance(z, dict):
        return np.asarray(z, float)
    if "strips" in z:
        return np.frombuffer(base64.b64decode(z["strips"]), "<i2").reshape(-1, z["size"]) * z["scale"]
    rows, columns = map(int, z["shape"].split(","))
    return np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"]).reshape(rows, columns)


def test_plotly_930_4215_repeated_words_keep_their_rows_and_columns(tmp_path: Path) -> None:
    source, target = ("the", "dog", "and") * 2 + ("the", "cat"), ("le", "chien", "et") * 2 + ("le", "chat")
    weights = np.random.default_rng(0).dirichlet(np.ones(8), size=8)
    record = attention(source, target, weights)
    app = open_page()
    upload(app, "mine.json", record.to_json().encode())
    for drawn in (
        record.heatmap().to_dict(),
        json.loads(heatmap_of(app)["template"]),
        saved_view(contents(record, "html", FigureOptions()).decode()).heatmap(),
    ):
        assert np.allclose(_cells(drawn), weights, atol=2e-5)
        assert not {"x", "y"} & {*drawn["data"][0]}, "cells are at positions, not at names"
        for axis, words in (("xaxis", source), ("yaxis", target)):
            assert tuple(drawn["layout"][axis]["ticktext"]) == words
            assert list(drawn["layout"][axis]["tickvals"]) == list(range(8))
    table = tables_of(app)[0]
    assert table["columns"][1:] == [f"{number} {word}" for number, word in enumerate(source, 1)]
    assert [row[0] for row in table["rows"]] == [f"{number} {word}" for number, word in enumerate(target, 1)]
    assert heatmap_html(record).count("<th ") == 16
    (tmp_path / "a.csv").write_bytes(contents(record, "csv", FigureOptions()))
    (again,) = read_attention(tmp_path / "a.csv")
    assert (again.words().source, again.words().target) == (source, target)
    assert np.allclose(again.alignment, weights, atol=1e-4)


def test_sacremoses_27_escapes_are_reported_and_undone(
    sides: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    (sides / "file").write_text("it &apos;s a well @-@ known &quot;\tx y\t0-0 1-1\n", encoding="utf-8")
    assert _run("attention", sides / "file") == 0
    assert capsys.readouterr() == snapshot(name="shown")
    assert _run("attention", sides / "file", "--unescape") == 0
    assert capsys.readouterr() == snapshot(name="undone")
