"""The page *Lab* as Streamlit runs it, without a browser: what its sections show, and of which translation."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.checkpoint import save_model
from attnviz.text import Tokenizer
from attnviz.ui.lab.room import SECTIONS
from attnviz.ui.toolbar.examples import OPENING
from tests.conftest import ModelFactory
from tests.ui.shown_records import mounted, records_of

Run = Callable[..., AppTest]

PAGE = """
from attnviz.ui.chrome import run_pages
from attnviz.ui.pages import lab
run_pages([lab.page])
"""


@pytest.fixture
def folder(tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(model_folder, tmp_path / "en-fr")
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    return tmp_path


@pytest.fixture
def page(folder: Path) -> Run:
    """Return a function that opens the lab as a link does."""

    def run(**linked: str) -> AppTest:
        app = AppTest.from_string(PAGE, default_timeout=60)
        for name, value in linked.items():
            app.query_params[name] = value
        return app.run()

    return run


def texts(app: AppTest) -> str:
    return "\n".join(element.value for element in app.text)


def address(app: AppTest) -> dict[str, str]:
    """Return what the page writes into the address."""
    (server,) = mounted(app, "messenger")
    return {key: value for key, value in server["address"]["parameters"].items() if value is not None}


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_opens_from_a_link_at_its_step_and_is_in_the_address(page: Run, section: str) -> None:
    app = page(section=section, sentence="Two dogs play in the snow.", step="2")
    assert not app.exception
    (player,) = mounted(app, "player")
    assert [word["text"] for word in player["source"][:2]] == ["Two", "dogs"]
    assert mounted(app, "messenger")[0]["step"] == 1
    opened = {"sentence": "Two dogs play in the snow.", "step": "2"}
    assert address(app) == (opened if section == next(iter(SECTIONS)) else opened | {"section": section})


def test_only_what_is_in_the_section_on_show_is_asked_for(page: Run) -> None:
    app = page()
    assert len(records_of(app, "chart")) == 1
    assert mounted(app, "player")[0]["source"][1]["text"] == OPENING.split()[1]
    app.button_group(key="section-en").set_value("trials").run()
    assert not app.exception
    assert [given["at"].split("/")[2].split("?")[0] for given in mounted(app, "chart")] == [
        "trials",
        "shuffled",
        "firmness",
    ]
    assert all(records_of(app, "chart"))
    app.button_group(key="lang").set_value("fr").run()
    assert app.button_group(key="section-fr").value == "trials"


@pytest.mark.parametrize("section", ["answers", "trials"])
def test_a_model_without_attention_has_nothing_to_choose_from(
    folder: Path, page: Run, make_network: ModelFactory, tokenizer: Tokenizer, section: str
) -> None:
    save_model(folder / "plain", make_network("none"), tokenizer)
    app = page(section=section, model="plain")
    assert not app.exception
    assert "there is nothing to choose from" in texts(app)


def test_without_a_model_the_page_says_so(
    tmp_path_factory: pytest.TempPathFactory, page: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path_factory.mktemp("none")))
    app = page()
    assert not app.exception
    assert "There is no model here" in texts(app)


def test_what_could_not_be_translated_is_told_and_the_example_shown(page: Run) -> None:
    app = page(sentence=" ")
    assert "The sentence is empty" in texts(app)
    assert "Below is the sentence that this page opens on." in texts(app)
    assert len(mounted(app, "player")) == 1
