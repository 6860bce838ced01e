"""Fixtures of the page tests: a small random model, and functions that open a page at the level *Everything*."""

import functools
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner

from attnviz import translator
from attnviz.decoding.search import longest_target
from attnviz.ui.page_state import inputs
from tests.ui.opening import Run, open_page


@pytest.fixture(autouse=True, scope="session")
def _scan_components_once() -> Iterator[None]:
    """Scan packages for components once: AppTest (Streamlit 1.67) does so at each run, which takes 90 % of its time."""
    with pytest.MonkeyPatch.context() as patch:
        once = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", once)
        yield


@pytest.fixture(autouse=True)
def _short_translations(request, monkeypatch) -> None:
    """Let random models write 12 pieces: they never end a sentence, and each step has its figures and texts."""
    if "shipped_model" not in request.fixturenames:
        monkeypatch.setattr(translator, "longest_target", lambda length: min(12, longest_target(length)))


@pytest.fixture
def models_folder(tmp_path, model_folder, monkeypatch) -> Path:
    """Return the folder where the page looks for models: a tiny random one, `en-fr`, which a test may change."""
    shutil.copytree(model_folder, tmp_path / "en-fr")
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    return tmp_path


@pytest.fixture
def en_fr(models_folder) -> Path:
    return models_folder / "en-fr"


@pytest.fixture
def page(models_folder) -> Run:
    return open_page


@pytest.fixture(autouse=True)
def _show_everything(monkeypatch) -> None:
    monkeypatch.setattr(inputs, "DEFAULT_LEVEL", "everything")
