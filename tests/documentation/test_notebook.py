"""The notebook of the recipes contains the code of their pages; `test_recipes.py` runs it."""

from __future__ import annotations

import os

import pytest

try:
    import nbformat

    from tests.documentation.notebook import NOTEBOOK, build_notebook
except ImportError:
    if os.environ.get("CI"):
        raise
    pytest.skip("nbformat or nbclient is not installed", allow_module_level=True)


def test_notebook_contains_the_code_of_the_pages() -> None:
    stored = nbformat.read(NOTEBOOK, as_version=4)
    assert [cell.source for cell in stored.cells] == [cell.source for cell in build_notebook().cells]
