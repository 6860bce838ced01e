"""The choices above the page: what a browser is told of them, and what is searched with them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.ui.toolbar import translation as page
from attnviz.ui.toolbar.controls import SEARCHES
from attnviz.ui.toolbar.examples import OPENING
from tests.conftest import REPOSITORY


@pytest.fixture
def app(tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """Return the page, not run yet, on two tiny random models."""
    for name in ("en-fr", "another"):
        shutil.copytree(model_folder, tmp_path / name)
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    return AppTest.from_file(str(REPOSITORY / "app.py"), default_timeout=60)


def test_a_browser_that_draws_the_choices_late_begins_with_what_is_chosen(app: AppTest) -> None:
    """It draws them when their box is opened, and takes what the widget itself calls its first choice."""
    app.run()
    app.text_area(key="sentence").set_value("Two dogs.").run()
    assert SEARCHES[app.selectbox(key="search-en").proto.default] == "beam 5"
    app.selectbox(key="search-en").set_value("beam 3").run()
    app.selectbox(key="model").set_value("another").run()
    assert SEARCHES[app.selectbox(key="search-en").proto.default] == "beam 3"
    assert app.selectbox(key="model").options[app.selectbox(key="model").proto.default] == "another"


@pytest.mark.parametrize(("linked", "beam"), [(None, 5), ("beam 3", 3)])
def test_the_opening_example_is_searched_as_chosen_and_called_what_it_is(
    app: AppTest, monkeypatch: pytest.MonkeyPatch, linked: str | None, beam: int
) -> None:
    asked = []
    translate = page.translate
    monkeypatch.setattr(page, "translate", lambda *wish: asked.append(wish[2:4]) or translate(*wish))
    app.query_params["sentence"] = " "
    if linked:
        app.query_params["search"] = linked
    app.run()
    assert asked == [(" ", beam), (OPENING, beam)]
    told = "\n".join(element.value for element in app.text)
    assert "Below is the sentence that this page opens on." in told
    assert "last sentence that could be translated" not in told
    app.text_area(key="sentence").set_value("Two dogs.").run()
    app.text_area(key="sentence").set_value(" ").run()
    assert "last sentence that could be translated" in "\n".join(element.value for element in app.text)
