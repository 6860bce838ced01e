"""The notebook of the recipes: it contains the code of their pages, runs in Jupyter, and shows a trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.documentation.pages import outputs_match

try:
    import nbformat

    from tests.documentation.notebook import NOTEBOOK, build_notebook
except ImportError:
    if os.environ.get("CI"):
        raise
    pytest.skip("nbformat or nbclient is not installed", allow_module_level=True)

RUN = """
import sys
from pathlib import Path
import nbformat
from tests.documentation.notebook import build_notebook, run
notebook = build_notebook()
run(notebook, Path(sys.argv[1]))
nbformat.write(notebook, sys.argv[2])
"""
"""Run in a process of its own: Jupyter's packages emit deprecation warnings."""


def printed_text(cell: dict[str, object]) -> str:
    return "".join(output["text"] for output in cell.get("outputs", []) if output["output_type"] == "stream")  # type: ignore[attr-defined]


def test_notebook_contains_the_code_of_the_pages() -> None:
    stored = nbformat.read(NOTEBOOK, as_version=4)
    assert [cell.source for cell in stored.cells] == [cell.source for cell in build_notebook().cells]


@pytest.mark.nightly
def test_notebook_runs_and_reproduces_its_stored_output(tmp_path: Path, shipped_model: Path) -> None:
    folder, path = tmp_path / "run", tmp_path / "run.ipynb"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", RUN, folder, path], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    stored, found = (nbformat.read(one, as_version=4) for one in (NOTEBOOK, path))
    for before, after in zip(stored.cells, found.cells, strict=True):
        assert outputs_match(printed_text(before), printed_text(after)), before.source
    shown = found.cells[1].outputs[0].data
    assert "<table" in shown["text/html"]
    assert "maison" in shown["text/html"]
