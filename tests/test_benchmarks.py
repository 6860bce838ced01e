"""The benchmarks' simulated visitor: it gets its translations, and opens the pages in turn."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
from pathlib import Path

import pytest

from tests.benchmarks import soak, visitors
from tests.benchmarks import visitor as visitor_module
from tests.benchmarks.visitor import Mistake, Visitor
from tests.browser.server import running_server

pytestmark = pytest.mark.nightly


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no time limit of the simulated visitor decide on a busy machine, and wait for no memory to be given back."""
    monkeypatch.setattr(visitor_module, "PATIENCE", 3600)
    for name in ("KEPT", "TIDIED"):
        monkeypatch.setattr(visitors, name, 0)


def test_simulated_visitors_get_their_translations(tmp_path: Path, model_folder: Path) -> None:
    shutil.copytree(model_folder, tmp_path / "en-fr")
    options = argparse.Namespace(visitors=2, words=0, sentences=2, steps=2, within=0.0, seconds=3600)

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
    # On a busy machine the server may take longer than the visitor's 30 s to say that it lives.
    assert [mistake for mistake in turn.mistakes if "sign of life" not in mistake] == []
    assert (len(turn.opened), len(turn.translated), len(turn.stepped), len(turn.read)) == (2, 4, 8, 4)
    assert len(turn.memory) == 4
    assert min(turn.memory) > 20
    assert turn.health
    assert turn.processor > 0.1
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
    # The lessons that come with the program are of its own models, and refuse the tiny one.
    assert [mistake for mistake in mistakes if "/lesson-page?" not in mistake] == []
    assert [row[0] for row in rows] == [turn.page for turn in turns]
    assert [turn.page for turn in turns[:2]] == ["translate", "lab"][: len(turns)]
    assert [turn.visits for turn in turns] == [2 * number for number in range(1, len(turns) + 1)]
    assert all(turn.memory > 20 for turn in turns)
