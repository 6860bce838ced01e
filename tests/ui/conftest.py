"""Fixtures of the page tests: a small random model, and functions that open a page.

The page opens at the level of detail *Everything* unless a link names another level: most tests need its panels.
"""

from __future__ import annotations

import functools
import json
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner

from attnviz.ui.page_state import detail_level
from tests.ui.opening import Run, open_lab, open_page


@pytest.fixture(autouse=True, scope="session")
def _scan_components_once() -> Iterator[None]:
    """Scan the installed packages for Streamlit components once.

    AppTest (Streamlit 1.67) reads the metadata of every package at each run: 0.7 s, 90 % of the time of a run.
    """
    with pytest.MonkeyPatch.context() as patch:
        once = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", once)
        yield


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
def _show_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detail_level, "DEFAULT_LEVEL", "everything")


@pytest.fixture
def lecture(monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, Any]]:
    """Return a function that makes the lecture page of the last download button, and returns its payload.

    It is made in another thread, as on the server, where no run of the page is active.
    """
    offered: list[Callable[[], bytes]] = []
    real = st.download_button

    def button(label: str, data: Any, *given: Any, **named: Any) -> bool:
        offered.append(data)
        return real(label, data, *given, **named)

    monkeypatch.setattr(st, "download_button", button)

    def read_lecture() -> dict[str, Any]:
        with ThreadPoolExecutor(1) as other_thread:
            text = other_thread.submit(offered[-1]).result().decode("utf-8")
        assert len(text.encode()) < 8_000_000
        payload = re.search(r'id="payload">(.*?)</script>', text)
        assert payload is not None
        contents: dict[str, Any] = json.loads(payload[1])
        return contents

    return read_lecture
