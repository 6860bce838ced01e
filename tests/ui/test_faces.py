"""Attention after the word: faces of the heatmap and the section with Bayes' rule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import analysis
from attnviz.analysis.labels import heatmap_heading
from attnviz.analysis.posterior import posterior_sentence, posterior_title
from attnviz.checkpoint import save_model
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from attnviz.trace.drawing import HeatmapChoices
from attnviz.ui import resources
from attnviz.ui.page_state.selection import Selection, linked_selection
from attnviz.ui.resources import cached_posterior, has_posterior, translate
from attnviz.ui.step.heatmap_panel import shown_choices
from attnviz.ui.view import MAIN, View
from tests.conftest import SENTENCES, ModelFactory
from tests.figures import synthetic
from tests.ui.fields import field
from tests.ui.opening import Run
from tests.ui.shown_payloads import badge, fetched, mounted, panel_texts, tables_of


def test_posterior_is_unavailable_without_weights_or_attention(
    models_folder: Path, make_network: ModelFactory, tokenizer: Tokenizer
) -> None:
    for trace in (synthetic.trace(), synthetic.trace(attention="none")):
        view = View(MAIN, trace)
        assert not has_posterior(trace)
        assert cached_posterior(trace) is None
        assert shown_choices(Selection(choices=HeatmapChoices(face="after")), view).face == "before"
        assert linked_selection(view, {"face": "after"}).choices.face == "before"
    save_model(models_folder / "fixed", make_network("none"), tokenizer)
    trace = translate(str(models_folder / "fixed"), "cpu", SENTENCES[0], 1, None)
    assert not has_posterior(trace)


def test_table_has_the_numbers_of_the_selected_face(en_fr: Path, page: Run) -> None:
    app = page(sentence=SENTENCES[0], search="greedy")
    trace = translate(str(en_fr), "auto", SENTENCES[0], 1, None)
    expected = analysis.posterior(trace, analysis.load_weights(en_fr))
    name = heatmap_heading("steps", False, "after")
    (table,) = [one for one in tables_of(app, face="after", by="steps") if one["name"] == name]
    drawn = [[float(cell) for cell in row[1:]] for row in table["rows"]]
    np.testing.assert_allclose(drawn, expected, rtol=1e-5, atol=1e-6)


READING = "α′ of the heatmap"


def payload_addresses(app: AppTest) -> dict[str, str]:
    """Return the addresses of the payloads that the components of the page fetch, by payload name."""
    assert not app.exception
    found = [given["at"] for kind in ("chart", "equation") for given in mounted(app, kind) if "at" in given]
    return {at.split("?")[0].rpartition("/")[2]: at for at in found}


def verified_quantities(app: AppTest) -> list[str]:
    return [row[0] for row in badge(app)["rows"]]


def test_posterior_is_computed_only_once_it_is_fetched(page: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(
        resources, "posterior_attention", lambda *given: calls.append(given) or analysis.posterior_attention(*given)
    )
    link = {"sentence": "Nobody has looked back from this one.", "search": "greedy", "step": "2"}
    app = page(**link)
    assert field(app, "after_word")["label"] == posterior_title()
    assert READING not in verified_quantities(app)
    assert "posterior p(j | y)" in verified_quantities(app)
    assert calls == []
    assert READING in verified_quantities(page(**link, after_word="1"))
    record, trace = fetched(payload_addresses(app)["posterior"]), shown_translation(app)
    found = analysis.posterior_attention(trace, resources.weights_of(trace))
    for step in range(len(trace.target_pieces)):
        assert record["captions"][str(step)] == [
            "Prior × likelihood → posterior",
            posterior_sentence(trace, found, step),
        ]
    assert "\\mid" in fetched(payload_addresses(app)["equation-after"])["latex"]
    assert len(calls) == 1


def shown_translation(app: AppTest) -> Trace:
    trace: Trace = app.session_state["last_trace"]
    return trace


def test_section_reports_missing_attention_or_model(
    page: Run,
    models_folder: Path,
    make_network: ModelFactory,
    tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    snapshot: SnapshotAssertion,
) -> None:
    save_model(models_folder / "fixed", make_network("none"), tokenizer)
    app = page(model="fixed", after_word="1")
    assert "posterior" not in payload_addresses(app)
    assert panel_texts(app, "looking_back") == snapshot(name="no attention")
    monkeypatch.setattr(resources, "_installed_weights", lambda _: None)
    app = page(after_word="1")
    assert "posterior" not in payload_addresses(app)
    assert panel_texts(app, "looking_back") == snapshot(name="no model")
