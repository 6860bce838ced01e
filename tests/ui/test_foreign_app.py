"""Somebody else's app, run by Streamlit's AppTest: its data have each payload that its blocks can ask for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import Trace, Translator, attention
from attnviz.checkpoint import save_model
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import TransformerTrace
from attnviz.trace.drawing import DetailLevel
from attnviz.ui.view import DETAIL_LEVELS
from attnviz.view.opened import opened_view
from tests.conftest import REPOSITORY
from tests.figures.payloads import figure_at
from tests.saved_pages import flattened
from tests.transformers import random_transformer

APP = REPOSITORY / "tests" / "browser" / "foreign_app.py"
GUIDE = REPOSITORY / ".docs" / "pages" / "recipes" / "own-page.md"
_PLACE = re.compile(r"\{(\w+)\}")


def addresses(view: dict[str, Any]) -> Iterator[str]:
    """Yield each address that the browser can fetch: as `filledAddress` fills those of the blocks."""
    blocks = list(flattened(view["blocks"]))
    (state,) = (block["data"] for block in blocks if block["kind"] == "view_state")
    options = {one["name"]: one["values"] for one in state["parameters"] if one["kind"] == "option"}
    for block in blocks:
        data = block.get("data") or {}
        for at in (data.get("at"), data.get("chosen"), data.get("consequence")) if isinstance(data, dict) else ():
            for step, *values in product(range(state["steps"]), *options.values()):
                chosen = dict(zip(options, values, strict=True))
                query = "&".join(f"{name}={value}" for name, value in chosen.items() if value != options[name][0])
                filling = chosen | {"step": str(step), "word": "", "size": "", "options": query}
                if at:
                    yield _PLACE.sub(lambda place, filling=filling: filling[place[1]], at)


@pytest.fixture(scope="module")
def app() -> AppTest:
    return AppTest.from_file(str(APP), default_timeout=120).run()


def shown(app: AppTest) -> dict[str, Any]:
    """Return the view that the app sends to the browser."""
    (component,) = app.get("bidi_component")
    view: dict[str, Any] = json.loads(json.loads(component.proto.json)[0])
    return view


def test_guide_shows_the_app() -> None:
    _, _, code = APP.read_text(encoding="utf-8").partition('"""\n\n')
    assert f"<<'END'\n{code}END\n" in GUIDE.read_text(encoding="utf-8")


@pytest.mark.usefixtures("shipped_model")
def test_app_sends_its_payloads_and_the_numbers_of_the_trace(app: AppTest) -> None:
    assert not app.exception
    view = shown(app)
    assert set(addresses(view)) <= view["payloads"].keys()
    trace = Translator[Trace].load("small-additive", device="cpu").translate(app.text_input[0].value)
    (player,) = (block["data"] for block in flattened(view["blocks"]) if block["kind"] == "player")
    assert player["identity"] == trace.fingerprint
    (payload,) = (payload for at, payload in view["payloads"].items() if "/softmax?" in at)
    for step, row in enumerate(trace.alignment):
        bars = [one["x"] for one in figure_at(payload, step)["data"] if one["type"] == "bar"]
        assert any(
            np.allclose(np.sort(weights), np.sort(row), atol=1e-4) for weights in bars if len(weights) == len(row)
        )


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory, translator: Translator, tokenizer: Tokenizer) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("transformer")
    save_model(folder, random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 3), tokenizer)
    transformer = Translator[TransformerTrace].load(folder, "cpu")
    matrix = np.array([[0.9, 0.1, 0.0], [0.0, 0.2, 0.8], [0.1, 0.8, 0.1]])
    return {
        "recurrent": translator.translate("A green house.", beam=1),
        "transformer": transformer.translate("A green house.", beam=1),
        "imported": attention(["the", "green", "house"], ["la", "maison", "verte"], matrix),
    }


@pytest.mark.parametrize("level", DETAIL_LEVELS)
@pytest.mark.parametrize("kind", ["recurrent", "transformer", "imported"])
def test_each_kind_of_trace_has_all_payloads_that_its_view_offers(
    traces: dict[str, Any], kind: str, level: DetailLevel
) -> None:
    view = opened_view(traces[kind], level, gold="0-0" if level != "idea" else None).drawn("dark")
    wanted = set(addresses(view))
    assert wanted
    assert wanted <= view["payloads"].keys()
