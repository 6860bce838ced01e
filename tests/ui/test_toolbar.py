"""Toolbar of the page: the search that a browser chooses, and the name of the opening example."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.ui.examples import DEFAULT_SENTENCE
from attnviz.ui.toolbar import shown_translation
from tests.ui.fields import set_field
from tests.ui.opening import Run
from tests.ui.shown_payloads import panel_texts


@pytest.fixture
def models_folder(models_folder: Path, model_folder: Path) -> Path:
    """Return the folder of two models."""
    shutil.copytree(model_folder, models_folder / "another")
    return models_folder


@pytest.mark.parametrize(("linked", "beam"), [({}, 5), ({"search": "beam 3"}, 3)])
def test_opening_example_uses_the_chosen_search_and_is_announced(
    page: Run, monkeypatch: pytest.MonkeyPatch, linked: dict[str, str], beam: int, snapshot: SnapshotAssertion
) -> None:
    asked = []
    translate = shown_translation.translate
    monkeypatch.setattr(shown_translation, "translate", lambda *wish: asked.append(wish[2:4]) or translate(*wish))
    app = page(sentence=" ", **linked)
    assert asked == [(" ", beam), (DEFAULT_SENTENCE, beam)]
    assert panel_texts(app, "messages") == snapshot(name="opening example")
    set_field(app, "sentence", "Two dogs.")
    set_field(app, "sentence", " ")
    assert panel_texts(app, "messages") == snapshot(name="last sentence")
