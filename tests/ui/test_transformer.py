"""First page with a transformer or an imported translator: heads, verification, and what it says is unavailable."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from attnviz import ForceWords, Translator
from attnviz.analysis.diagram import no_diagram_reason
from attnviz.analysis.logit_attribution import no_logit_attribution_reason
from attnviz.architectures import TRANSFORMER
from attnviz.checkpoint import save_model
from attnviz.commands.main import main
from attnviz.figures.registry import ENERGY_DECOMPOSITION
from attnviz.network import TransformerConfig
from attnviz.trace import TransformerTrace
from tests.conftest import SENTENCES
from tests.figures.payloads import filled
from tests.importing.peers import D2l, Fairseq, Tutorial
from tests.transformers import random_transformer
from tests.ui.opening import fields, open_page, set_field
from tests.ui.shown_payloads import (
    address,
    all_payloads,
    badge,
    chart_addresses,
    chart_names,
    heatmap_of,
    mounted,
    panel_texts,
    payloads_of,
    texts,
)
from tests.what_if_links import link

LAYERS, HEADS = 2, 3
NAME = "a-transformer"
LINK = {"model": NAME, "sentence": SENTENCES[0], "search": "greedy", "depth": "everything"}


@pytest.fixture
def transformer(models_folder, tokenizer) -> Path:
    network = random_transformer(TransformerConfig(len(tokenizer), 12, HEADS, LAYERS, 5), 1)
    save_model(models_folder / NAME, network, tokenizer)
    return models_folder / NAME


@pytest.fixture
def trace(transformer) -> TransformerTrace:
    """Return the translation of the sentence in `LINK`."""
    return Translator.load(transformer, "cpu").translate(SENTENCES[0], beam=1)


def weights_in_heatmap(app: AppTest) -> NDArray[np.float64]:
    return filled(json.loads(heatmap_of(app)["template"])["data"][0]["z"], [])


@pytest.mark.parametrize(("code", "layer", "head"), [(None, None, None), ("1", 0, None), ("2.3", 1, 2)])
def test_linked_heads_are_shown(trace, page, code: str | None, layer: int | None, head: int | None) -> None:
    app = page(**LINK, **({"heads": code} if code else {}))
    expected = trace.select_heads(layer, head)
    np.testing.assert_allclose(weights_in_heatmap(app), expected.alignment, atol=2e-5)
    (player,) = mounted(app, "player")
    sent = np.frombuffer(base64.b64decode(player["alignment"]), "<f4").reshape(expected.alignment.shape)
    np.testing.assert_allclose(sent, expected.alignment, atol=1e-6)
    assert address(app).get("heads") == code


def test_unavailable_sections_are_explained(transformer, page, snapshot) -> None:
    app = page(**LINK, after_word="1")
    panels = {key: panel_texts(app, key) for key in ("inside_energy", "inside_word", "looking_back")}
    assert panels == snapshot
    assert TRANSFORMER.missing["softmax"]() in panel_texts(app, "stage_2")
    assert not mounted(app, "intervention_controls")


def test_switching_to_a_recurrent_model_and_back_restores_the_page(trace, page) -> None:
    app = page(**LINK, heads="1.1")
    before = weights_in_heatmap(app)
    set_field(app, "model", "en-fr")
    assert {"energy", "softmax", "state", "maxout"} <= set(chart_addresses(app))
    assert not {"heads"} & {*fields(app), *address(app)}
    assert badge(app)["holds"]
    set_field(app, "model", NAME)
    np.testing.assert_array_equal(weights_in_heatmap(app), before)
    assert set(chart_addresses(app)) == {*chart_names(trace), ENERGY_DECOMPOSITION.name}
    assert badge(app)["holds"]


def test_another_word_can_be_written_and_is_verified(trace, page) -> None:
    piece = next(int(one) for one in trace.top_ids[1] if one > 3 and one != trace.target_ids[1])
    app = page(**LINK, what_ifs=link(ForceWords((piece,), 1)), what_if="1", heads="1.2")
    assert not app.exception
    assert mounted(app, "other_word")
    (cards,) = mounted(app, "what_ifs")
    assert (len(cards["cards"]), cards["current"]) == (2, 1)
    assert badge(app)["holds"]


IMPORTED = {"tutorial": "ein mann schläft im park .", "d2l": "he is lost .", "fairseq": "der hund schläft ."}
"""One with a linear readout that reads in both directions, one of neither kind, and one with LSTMs and a tanh."""


@pytest.fixture(scope="module")
def imported_folder(tmp_path_factory) -> Path:
    models = tmp_path_factory.mktemp("models")
    for name, peer in zip(IMPORTED, (Tutorial(), D2l(), Fairseq(bidirectional=True)), strict=True):
        peer.write(folder := tmp_path_factory.mktemp(name))
        assert main(["import", str(folder), "-o", str(models / name)]) == 0
    return models


@pytest.fixture
def imported(imported_folder, monkeypatch) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(imported_folder))


@pytest.mark.parametrize("name", IMPORTED)
def test_imported_translator_is_shown_and_verified(imported, name: str) -> None:
    app = open_page(model=name, sentence=IMPORTED[name], search="greedy", depth="everything")
    assert badge(app)["holds"]
    assert list(all_payloads(app))
    page_texts = texts(app)
    assert (no_logit_attribution_reason() in page_texts) is (name != "tutorial")
    assert (no_diagram_reason(app.session_state["last_trace"]) in page_texts) is (name != "tutorial")
    equations = " ".join(payload["latex"] for payload in payloads_of(app, "equation"))
    assert (r"\tanh(W_t" in equations) is (name == "fairseq")
    assert (r"\tanh m_" in equations) is (name == "fairseq")


def test_sentence_that_an_imported_translator_does_not_know(imported, snapshot) -> None:
    app = open_page(model="d2l", sentence="xyzzy")
    assert panel_texts(app, "problem") == snapshot
