"""First page with an imported translator.

The page shows its equations, verifies it, offers logit attribution where the logit is linear, and says what is
unavailable.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.diagram import no_diagram_reason
from attnviz.analysis.logit_attribution import no_logit_attribution_reason
from attnviz.commands.main import main
from tests.importing.peers import D2l, Fairseq, Joey, Opennmt, Tutorial
from tests.ui.opening import open_page
from tests.ui.shown_payloads import all_payloads, badge, panel_texts, shown_equations, texts

SENTENCES = {
    "tutorial": "ein mann schläft im park .",
    "joey": "der hund schläft im park .",
    "lstm": "der hund schläft .",
    "d2l": "he is lost .",
    "fairseq": "der hund schläft .",
    "opennmt": "der hund schläft .",
    "opennmt-mlp": "der hund schläft .",
}
LINEAR = ("tutorial", "opennmt-mlp")
"""Names of the translators whose logits split into parts."""
TANH = ("joey", "lstm", "fairseq", "opennmt")
"""Names of the translators with a tanh before the logits."""
DIAGRAM = ("tutorial",)
"""Names of the translators that read in both directions, and attend before their state changes."""
LSTM = ("lstm", "fairseq", "opennmt")


@pytest.fixture
def imported(models_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import translators of every program."""
    found = {name: tmp_path_factory.mktemp(name) for name in SENTENCES}
    Tutorial().write(found["tutorial"])
    Joey().write(found["joey"])
    Joey(rnn="lstm", layers=(1, 2)).write(found["lstm"])
    D2l().write(found["d2l"])
    Fairseq(bidirectional=True).write(found["fairseq"])
    Opennmt(attention="dot", layers=2).write(found["opennmt"])
    Opennmt(rnn="GRU", attention="mlp").write(found["opennmt-mlp"])
    for name, folder in found.items():
        assert main(["import", str(folder), "-o", str(models_folder / name)]) == 0
    return models_folder


@pytest.mark.parametrize("name", SENTENCES)
def test_imported_translator_is_shown_and_verified(imported: Path, name: str) -> None:
    app = open_page(model=name, sentence=SENTENCES[name], search="greedy", depth="everything")
    assert badge(app)["holds"]
    assert list(all_payloads(app))
    page_texts = texts(app)
    assert (no_logit_attribution_reason() in page_texts) is (name not in LINEAR)
    assert (no_diagram_reason(app.session_state["last_trace"]) in page_texts) is (name not in DIAGRAM)
    equations = " ".join(shown_equations(app))
    assert (r"\tanh(W_t" in equations) is (name in TANH)
    assert (r"\tanh m_" in equations) is (name in LSTM)


@pytest.mark.usefixtures("imported")
def test_sentence_that_an_imported_translator_does_not_know(snapshot: SnapshotAssertion) -> None:
    app = open_page(model="d2l", sentence="xyzzy")
    assert panel_texts(app, "problem") == snapshot
