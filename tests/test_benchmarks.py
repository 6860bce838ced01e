"""The benchmarks: their options, their tables, and the simulated visitor without a browser."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.text import LONGEST_SENTENCE
from tests.benchmarks import page_load, soak, visitors
from tests.benchmarks.checkouts import checkout, count
from tests.benchmarks.visitor import Mistake, Visitor
from tests.browser.server import running_server
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.nightly


@pytest.mark.parametrize("name", ["page_load", "visitors"])
@pytest.mark.parametrize(
    "options", [["--against", "nowhere"], ["--turns", "0"], ["--turns", "many"], ["--visitors", "-1"]], ids=" ".join
)
def test_invalid_options_exit_with_one_line(name: str, options: list[str], snapshot: SnapshotAssertion) -> None:
    command = [sys.executable, "-m", f"tests.benchmarks.{name}", *options]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == snapshot
    assert "Traceback" not in done.stderr


def test_checkout_and_count_options_are_validated() -> None:
    assert checkout(str(REPOSITORY)) == REPOSITORY
    assert count("12") == 12
    for text in ("1.5", "", "-1"):
        with pytest.raises(argparse.ArgumentTypeError):
            count(text)


def test_visitors_have_distinct_sentences() -> None:
    made = [visitors.sentence(visitor, number) for visitor in range(40) for number in range(3)]
    assert len({text for text, _ in made}) == len({mark for _, mark in made}) == len(made)
    for text, mark in made:
        assert mark in text
    assert made[7] == visitors.sentence(2, 1)


def test_long_sentences_have_the_requested_words_and_are_translated() -> None:
    for visitor in range(40):
        text, mark = visitors.sentence(visitor, 1, words=180)
        assert mark in text
        assert 180 <= len(text.split()) <= LONGEST_SENTENCE


def test_tables_have_a_heading_for_each_column() -> None:
    visit = page_load.Visit(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
    turn = page_load.Turn(0.5, visit, [visit, visit])
    assert len(page_load.row("this", [turn, turn])) == len(page_load.HEAD.splitlines()[-1])
    many = [0.5, 1.5, 1.0]
    came = visitors.Turn(many, many, [], many, [0.1], [90.0, 700.0, 710.0, 705.0], [1000.0])
    for each in (came, visitors.Turn(memory=[90.0, 90.0, 90.0, 90.0])):
        assert len(visitors.row("this", each)) == len(visitors.HEAD.splitlines()[-1])


def test_simulated_visitors_get_their_translations(tmp_path: Path, model_folder: Path) -> None:
    shutil.copytree(model_folder, tmp_path / "en-fr")
    options = argparse.Namespace(visitors=2, words=0, sentences=2, steps=2, within=0.0, seconds=60)

    async def strays(address: str) -> None:
        visitor = await Visitor.arrive(address)
        await visitor.open()
        with pytest.raises(Mistake, match="another sentence"):
            await visitor.translate("A girl is riding a red bicycle.", "elephant")
        for source in (["red", "bicycle"], ["two", "dogs"]):
            file = {"source": source, "target": ["un", "mot"], "matrix": [[0.5, 0.5], [0.1, 0.9]]}
            await visitor.upload("attention.json", json.dumps(file).encode())
            assert visitor.source.startswith("".join(source))
        await visitor.leave()

    with running_server(tmp_path, tmp_path / "page.log") as (address, process):
        turn = asyncio.run(visitors.visit(address, process, options))
        asyncio.run(strays(address))
    assert turn.mistakes == []
    assert (len(turn.opened), len(turn.translated), len(turn.stepped), len(turn.read)) == (2, 4, 8, 4)
    assert len(turn.memory) == 4
    assert min(turn.memory) > 20
    assert len(turn.health) > 5
    assert 0.1 < turn.processor < 600
    assert all(sent > 100 for sent in turn.kilobytes)


def test_soak_visits_the_pages_in_turn(
    tmp_path: Path, model_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(model_folder, tmp_path / "en-fr")
    monkeypatch.setattr(soak, "FILES_EVERY", 2)
    options = argparse.Namespace(pages=("translate", "lab"), visits=2, seconds=1)
    with running_server(tmp_path, tmp_path / "page.log") as server:
        turns, mistakes = asyncio.run(soak.soak(*server, options))
    rows = [row.split() for row in capsys.readouterr().out.splitlines()]
    assert mistakes == []
    assert [row[0] for row in rows] == [turn.page for turn in turns]
    assert [turn.page for turn in turns[:2]] == ["translate", "lab"][: len(turns)]
    assert [turn.visits for turn in turns] == [2 * number for number in range(1, len(turns) + 1)]
    assert all(turn.memory > 20 for turn in turns)


def test_soak_computes_the_growth_of_the_second_half() -> None:
    """The memory grows by 300 MiB while the server warms up, and then by 2 MiB in ten visits."""
    turns = [
        soak.Turn(("lab", "why")[turn % 2], 10 * turn, turn, 500 + min(100 * turn, 300) + 2 * turn, 0.2)
        for turn in range(1, 21)
    ]
    *pages, whole = soak.table(turns).splitlines()[1:]
    assert [line.split() for line in pages] == [["why", "+0.20"], ["lab", "+0.20"]]
    assert "+200 MiB" in whole
