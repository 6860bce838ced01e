"""The benchmarks' simulated visitors: they get their translations, and open the pages in turn."""

import argparse
import asyncio
import importlib
import shutil
from itertools import islice
from pathlib import Path

import pytest

from tests.benchmarks import soak, visitors
from tests.benchmarks import visitor as visitor_module
from tests.benchmarks.visitor import Mistake, Visitor
from tests.browser.server import running_server

pytestmark = pytest.mark.nightly


async def translate_another(address: str) -> None:
    visitor = await Visitor.arrive(address)
    await visitor.open()
    with pytest.raises(Mistake, match="another sentence"):
        await visitor.translate("A girl is riding a red bicycle.", "elephant")
    await visitor.leave()


def test_simulated_visitors_get_their_translations(tmp_path, model_folder, monkeypatch) -> None:
    monkeypatch.setattr(visitor_module, "PATIENCE", 3600)  # on a busy machine
    monkeypatch.setattr(soak, "FILES_EVERY", 2)
    for name in ("KEPT", "TIDIED"):
        monkeypatch.setattr(visitors, name, 0)
    shutil.copytree(model_folder, tmp_path / "en-fr")
    options = argparse.Namespace(visitors=2, words=0, sentences=2, steps=2, within=0.0, seconds=3600, visits=2)
    options.pages, mistakes = ("translate", "lab"), list[str]()
    with running_server(tmp_path, tmp_path / "page.log") as (address, process):
        turn = asyncio.run(visitors.visit(address, process, options))
        asyncio.run(translate_another(address))
        lines = [*islice(soak.soak(address, process, options, mistakes), 2)]
    # On a busy machine the server may take longer than the visitor's 30 s to say that it lives. The lessons that come
    # with the program are of its own models, and refuse the tiny one.
    left = [one for one in turn.mistakes + mistakes if "sign of life" not in one and "/lesson-page?" not in one]
    assert left == []
    done = ("page opened, s", "translated, s", "stepped, s", "read, s")
    assert [len(turn[what]) for what in done] == [2, 4, 8, 4]
    assert all(min(turn[what]) > 20 for what in turn if what.endswith("MB"))
    assert turn["server, cpu s"][0] > 0.1
    assert all(sent > 100 for sent in turn["sent to each, kB"])
    assert [line["visits"] for line in lines] == [2, 4]
    for page, line in zip(options.pages, lines, strict=True):
        assert {f"{page}: growth a visit, MB", "open files"} <= line.keys()


@pytest.mark.parametrize("path", sorted(Path(soak.__file__).parent.glob("*.py")), ids=lambda path: path.stem)
def test_every_benchmark_finds_what_it_imports(path) -> None:
    importlib.import_module(f"tests.benchmarks.{path.stem}")
