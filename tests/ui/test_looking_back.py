"""Posterior attention section of the page: closed, opened by link or by hand, remembered, in both languages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import analysis
from attnviz.checkpoint import save_model
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from attnviz.ui import resources
from attnviz.ui.page_state.address import forget_view, own_parameters
from attnviz.ui.page_state.choices import open_choices, shows_posterior
from attnviz.ui.page_state.view import MAIN, View
from attnviz.ui.resources import translate
from attnviz.ui.toolbar.downloads import pictures
from attnviz.wording.posterior_attention import posterior_sentence, posterior_title
from tests.conftest import SENTENCES, ModelFactory
from tests.figures import synthetic
from tests.ui.fields import set_field
from tests.ui.opening import Run
from tests.ui.shown_payloads import badge, column, fetched, mounted, panel_texts, shown_equations, tables_of

READING = "α′ of the heatmap"


def payload_addresses(app: AppTest) -> dict[str, str]:
    """Return the addresses of the payloads that the components of the page fetch, by payload name."""
    assert not app.exception
    found = [given["at"] for kind in ("chart", "equation") for given in mounted(app, kind) if "at" in given]
    return {at.split("?")[0].rpartition("/")[2]: at for at in found}


def address_value(app: AppTest) -> str | None:
    """Return the value of the parameter of the section in the address."""
    value: str | None = mounted(app, "view_state")[0]["own"]["after_word"]
    return value


def verified_quantities(app: AppTest) -> list[str]:
    return [row[0] for row in badge(app)["rows"]]


def test_posterior_is_computed_only_while_the_section_is_open(page: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(
        resources, "posterior_attention", lambda *given: calls.append(given) or analysis.posterior_attention(*given)
    )
    app = page(sentence="Nobody has looked back from this one.", search="greedy", step="2")
    assert posterior_title() in [box.label for box in app.expander]
    assert not {"posterior", "equation-after"} & payload_addresses(app).keys()
    assert calls == []
    assert address_value(app) is None
    assert READING not in verified_quantities(app)
    assert "posterior p(j | y)" in verified_quantities(app)
    app.session_state["after_word"] = True
    app.run()
    assert address_value(app) == "1"
    assert READING in verified_quantities(app)
    assert {"posterior", "equation-after"} <= payload_addresses(app).keys()
    record, trace = fetched(payload_addresses(app)["posterior"]), shown_translation(app)
    found = analysis.posterior_attention(trace, resources.weights_of(trace))
    for step in range(len(trace.target_pieces)):
        assert record["captions"][str(step)] == [
            "Prior × likelihood → posterior",
            posterior_sentence(trace, found, step),
        ]
    shown = shown_equations(app)
    assert len(shown) == 6
    assert "\\mid" in shown[5]
    assert len(calls) == 1


def shown_translation(app: AppTest) -> Trace:
    trace: Trace = app.session_state["last_trace"]
    return trace


def test_link_opens_the_section_and_language_or_sentence_keep_it_open(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page(after_word="1")
    assert "posterior" in payload_addresses(app)
    set_field(app, "lang", "fr")
    assert posterior_title() not in [box.label for box in app.expander]
    assert "posterior" in payload_addresses(app)
    set_field(app, "lang", "en")
    set_field(app, "sentence", "Two dogs play in the snow.")
    assert "posterior" in payload_addresses(app)
    app.session_state["after_word"] = False
    app.run()
    assert "posterior" not in payload_addresses(app)
    assert address_value(app) is None
    app = page(after_word="2")
    assert "posterior" not in payload_addresses(app)
    assert list(mounted(app, "link_messages")[0]["problems"].values()) == snapshot
    app.session_state["after_word"] = True
    app.run()
    assert mounted(app, "link_messages") == []


def test_new_link_opens_or_closes_the_section() -> None:
    view, session = View(MAIN, synthetic.trace()), {}
    open_choices(session, view, {"after_word": "1"})
    assert shows_posterior(session, view)
    open_choices(session, view, {})
    assert shows_posterior(session, view), "a link is followed once"
    assert own_parameters(session, view)["after_word"] == "1"
    session["after_word"] = False
    open_choices(session, view, {"after_word": "1"})
    assert own_parameters(session, view)["after_word"] is None
    forget_view(session, MAIN)
    open_choices(session, view, {"after_word": "1"})
    assert shows_posterior(session, view)
    assert not open_choices({}, view, {"after_word": "2"})["after_word"]


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


def test_table_and_files_have_the_posterior_numbers(en_fr: Path, page: Run, snapshot: SnapshotAssertion) -> None:
    app = page(sentence=SENTENCES[0], search="greedy", step="2")
    app.session_state["tables"] = True
    app.run()
    trace = translate(str(en_fr), "auto", SENTENCES[0], 1, None)
    found = analysis.posterior_attention(trace, analysis.load_weights(en_fr))
    table = tables_of(app, step="2")[-1]
    assert table["name"] == snapshot(name="table")
    drawn = [float(cell) for cell in column(table, "posterior p(j | y)")]
    np.testing.assert_allclose(drawn, found.posterior[1], rtol=1e-5, atol=1e-6)
    saved = {one.name: one for one in pictures(View(MAIN, trace), {})}["step-1-posterior"]
    assert saved.title == snapshot(name="picture")
    np.testing.assert_allclose(saved.numbers["posterior p(j | y)"], found.posterior[0], atol=1e-6)


def test_one_wrong_likelihood_turns_the_badge_red(page: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    app = page(sentence=SENTENCES[0], search="greedy", after_word="1")
    assert badge(app)["holds"]
    true = analysis.likelihood.__globals__["Readouts"].log_likelihood

    def altered(*given, **named):
        found = true(*given, **named)
        found[0, 1] += 0.05
        return found

    monkeypatch.setattr("attnviz.analysis.verification.Readouts.log_likelihood", altered)
    app = page(sentence=SENTENCES[0], search="greedy", after_word="1", step="3")
    found = badge(app)
    assert not found["holds"]
    assert "logarithms of the likelihoods" in found["summary"] + "".join(found["wrong"])
    assert next(row[0] for row in found["rows"] if row[3] == "✗").startswith(("likelihoods", "logarithms"))
