"""First page with an imported translator: equations, verification, and what it says is unavailable."""

from pathlib import Path

import pytest

from attnviz.analysis.diagram import no_diagram_reason
from attnviz.analysis.logit_attribution import no_logit_attribution_reason
from attnviz.commands.main import main
from tests.importing.peers import D2l, Fairseq, Tutorial
from tests.ui.opening import open_page
from tests.ui.shown_payloads import all_payloads, badge, panel_texts, payloads_of, texts

SENTENCES = {"tutorial": "ein mann schläft im park .", "d2l": "he is lost .", "fairseq": "der hund schläft ."}
"""One with a linear readout that reads in both directions, one of neither kind, and one with LSTMs and a tanh."""


@pytest.fixture(scope="module")
def imported(tmp_path_factory) -> Path:
    models = tmp_path_factory.mktemp("models")
    for name, peer in zip(SENTENCES, (Tutorial(), D2l(), Fairseq(bidirectional=True)), strict=True):
        peer.write(folder := tmp_path_factory.mktemp(name))
        assert main(["import", str(folder), "-o", str(models / name)]) == 0
    return models


@pytest.fixture(autouse=True)
def _models(imported, monkeypatch) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(imported))


@pytest.mark.parametrize("name", SENTENCES)
def test_imported_translator_is_shown_and_verified(name: str) -> None:
    app = open_page(model=name, sentence=SENTENCES[name], search="greedy", depth="everything")
    assert badge(app)["holds"]
    assert list(all_payloads(app))
    page_texts = texts(app)
    assert (no_logit_attribution_reason() in page_texts) is (name != "tutorial")
    assert (no_diagram_reason(app.session_state["last_trace"]) in page_texts) is (name != "tutorial")
    equations = " ".join(payload["latex"] for payload in payloads_of(app, "equation"))
    assert (r"\tanh(W_t" in equations) is (name == "fairseq")
    assert (r"\tanh m_" in equations) is (name == "fairseq")


def test_sentence_that_an_imported_translator_does_not_know(snapshot) -> None:
    app = open_page(model="d2l", sentence="xyzzy")
    assert panel_texts(app, "problem") == snapshot
