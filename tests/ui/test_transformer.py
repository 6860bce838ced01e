"""Where a transformer lies among the models, the page leaves it out and says so; its saved trace is refused by name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from attnviz.checkpoint import save_model
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.translator import Translator
from attnviz.ui import resources
from tests.conftest import SENTENCES
from tests.transformers import random_transformer
from tests.ui.opening import Run, open_page


@pytest.fixture
def transformer(tmp_path: Path, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a transformer, the only model of the page."""
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    network = random_transformer(TransformerConfig(len(tokenizer), 8, 2, 1, 4), 1)
    save_model(tmp_path / "a-transformer", network, tokenizer)
    return tmp_path / "a-transformer"


@pytest.mark.parametrize(
    ("code", "said"),
    [("en", "Left out, as transformers: a-transformer."), ("fr", "ce sont des transformeurs\u00a0: a-transformer.")],
)
def test_it_is_left_out_and_that_is_said(transformer: Path, model_folder: Path, code: str, said: str) -> None:
    shutil.copytree(model_folder, transformer.parent / "en-fr")
    app = open_page(model="a-transformer", lang=code)
    assert app.selectbox(key="model").options == ["en-fr"]
    assert any(said in caption.value for caption in app.caption)


def test_a_page_with_nothing_else_says_that_there_is_no_model(transformer: Path) -> None:
    app = open_page()
    assert resources.models() == {}
    assert resources.undrawn_models() == ["a-transformer"]
    assert any("There is no model here" in element.value for element in [*app.error, *app.warning, *app.text])


def test_without_one_nothing_is_said_of_it(page: Run) -> None:
    assert not any("transformers" in caption.value for caption in page().caption)


def test_a_model_put_in_its_place_is_shown(transformer: Path, model_folder: Path) -> None:
    assert resources.models() == {}
    shutil.rmtree(transformer)
    shutil.copytree(model_folder, transformer)
    assert resources.models() == {"a-transformer": transformer}


def test_a_damaged_model_is_not_left_out_unheard(transformer: Path) -> None:
    (transformer / "config.json").write_text("{")
    assert resources.models() == {"a-transformer": transformer}


def test_its_saved_trace_is_refused_by_name(transformer: Path, model_folder: Path) -> None:
    shutil.copytree(model_folder, transformer.parent / "en-fr")
    text = Translator.load(transformer, "cpu").translate(SENTENCES[0]).to_json()
    app = open_page()
    app.session_state["downloads"] = True  # the box
    app.run().get("file_uploader")[0].set_value(("one.json", text.encode(), "application/json")).run()
    assert not app.exception
    said = "\n".join(str(element.value) for element in [*app.error, *app.warning, *app.text])
    assert "one.json was not opened. This is the saved trace of another kind of network, transformer" in said
