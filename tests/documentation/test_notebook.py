"""The notebook of the recipes has the code of their pages, runs in Jupyter, and shows a trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.documentation.pages import same

try:
    import nbformat

    from tests.documentation.notebook import NOTEBOOK, made
except ImportError:
    if os.environ.get("CI"):
        raise
    pytest.skip("nbformat or nbclient is not installed", allow_module_level=True)

RUN = """
import sys
from pathlib import Path
import nbformat
from tests.documentation.notebook import made, run
notebook = made()
run(notebook, Path(sys.argv[1]))
nbformat.write(notebook, sys.argv[2])
"""
"""By itself: Jupyter's packages warn of their own future."""


def printed(cell: dict[str, object]) -> str:
    return "".join(output["text"] for output in cell.get("outputs", []) if output["output_type"] == "stream")  # type: ignore[attr-defined]


def test_the_notebook_has_the_code_of_the_pages() -> None:
    stored = nbformat.read(NOTEBOOK, as_version=4)
    assert [cell.source for cell in stored.cells] == [cell.source for cell in made().cells]


@pytest.mark.nightly
def test_the_notebook_runs_and_prints_what_is_stored(tmp_path: Path, shipped_model: Path) -> None:
    folder, path = tmp_path / "run", tmp_path / "run.ipynb"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", RUN, folder, path], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    stored, found = (nbformat.read(one, as_version=4) for one in (NOTEBOOK, path))
    for before, after in zip(stored.cells, found.cells, strict=True):
        assert same(printed(before), printed(after)), before.source
    shown = found.cells[1].outputs[0].data
    assert "<table" in shown["text/html"]
    assert "maison" in shown["text/html"]
