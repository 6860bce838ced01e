"""What most tests of the page begin with: a model for it to show, and the page itself.

It shows everything, unless a link names a depth: most tests are about what lies deep.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from attnviz.ui.page_state import depth
from tests.ui.opening import Run, open_lab, open_page


@pytest.fixture
def models_folder(tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder where the page looks for models: a tiny random one, `en-fr`, which a test may change."""
    shutil.copytree(model_folder, tmp_path / "en-fr")
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    return tmp_path


@pytest.fixture
def en_fr(models_folder: Path) -> Path:
    """Return the folder of the model that the page shows."""
    return models_folder / "en-fr"


@pytest.fixture
def page(models_folder: Path) -> Run:
    """Return a function that opens the first page as a link does."""
    return open_page


@pytest.fixture
def lab(models_folder: Path) -> Run:
    """Return a function that opens the lab as a link does."""
    return open_lab


@pytest.fixture(autouse=True)
def _everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depth, "NEWCOMER", "everything")
