"""Recipes and notebook run as printed with the installed package alone, in an empty folder outside the repository."""

import subprocess
from pathlib import Path

import nbformat
import pytest

from tests.conftest import REPOSITORY
from tests.documentation.installed import install
from tests.documentation.notebook import NOTEBOOK, build_notebook, printed_text
from tests.documentation.pages import RECIPES, blocks, outputs_match, run_blocks

RUN_NOTEBOOK = """
import sys
from pathlib import Path
import nbformat
from tests.documentation.notebook import build_notebook, run
notebook = build_notebook()
run(notebook, Path(sys.argv[1]), Path(sys.executable))
nbformat.write(notebook, sys.argv[2])
"""
"""Run in a process of its own: Jupyter's packages emit deprecation warnings."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Return the Python of an environment with the installed package."""
    return install(tmp_path_factory.mktemp("installed"))


@pytest.mark.nightly
@pytest.mark.parametrize("page", RECIPES, ids=lambda page: page.stem)
def test_recipe_runs_and_prints_the_shown_output(tmp_path, installed, page: Path) -> None:
    runnable = [block for block in blocks(page.read_text(encoding="utf-8")) if block.reason is None]
    for block, found in zip(runnable, run_blocks(tmp_path, runnable, installed), strict=True):
        if block.output is not None:
            assert outputs_match(block.output, found), f"{block.code}\nprints\n{found}\nand not\n{block.output}"


def test_notebook_contains_the_code_of_the_pages() -> None:
    stored = nbformat.read(NOTEBOOK, as_version=4)
    assert [cell.source for cell in stored.cells] == [cell.source for cell in build_notebook().cells]


@pytest.mark.nightly
def test_notebook_runs_and_reproduces_its_stored_output(tmp_path, installed) -> None:
    empty, path = tmp_path / "empty", tmp_path / "run.ipynb"
    empty.mkdir()
    done = subprocess.run(
        [installed, "-c", RUN_NOTEBOOK, empty, path], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    stored, found = (nbformat.read(one, as_version=4) for one in (NOTEBOOK, path))
    for before, after in zip(stored.cells, found.cells, strict=True):
        assert outputs_match(printed_text(before), printed_text(after)), before.source
    shown = found.cells[1].outputs[0].data
    assert "<table" in shown["text/html"]
    assert "maison" in shown["text/html"]
