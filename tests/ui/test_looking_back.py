"""Posterior attention section of the page: closed, opened by link or by hand, remembered, in both languages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import analysis
from attnviz.analysis.posterior import posterior_sentence, posterior_title
from attnviz.checkpoint import save_model
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from attnviz.ui import resources
from attnviz.ui.resources import translate
from attnviz.ui.toolbar.downloads import pictures
from attnviz.ui.view import MAIN, View
from tests.conftest import SENTENCES, ModelFactory
from tests.ui.fields import field
from tests.ui.opening import Run
from tests.ui.shown_payloads import badge, column, fetched, mounted, panel_texts, selected, tables_of

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


def test_table_and_files_have_the_posterior_numbers(en_fr: Path, page: Run, snapshot: SnapshotAssertion) -> None:
    app = page(sentence=SENTENCES[0], search="greedy")
    trace = translate(str(en_fr), "auto", SENTENCES[0], 1, None)
    found = analysis.posterior_attention(trace, analysis.load_weights(en_fr))
    table = tables_of(app, 1)[-1]
    assert table["name"] == snapshot(name="table")
    drawn = [float(cell) for cell in column(table, "posterior p(j | y)")]
    np.testing.assert_allclose(drawn, found.posterior[1], rtol=1e-5, atol=1e-6)
    saved = {one.name: one for one in pictures(View(MAIN, trace), {})}["step-1-posterior"]
    assert saved.title == snapshot(name="picture")
    np.testing.assert_allclose(saved.draw().frame()["posterior p(j | y)"], found.posterior[0], atol=1e-6)


def test_one_wrong_likelihood_turns_the_badge_red(page: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    app = page(sentence=SENTENCES[0], search="greedy", after_word="1")
    assert badge(app)["holds"]
    true = analysis.likelihood.__globals__["Readouts"].log_likelihood

    def altered(*given, **named):
        found = true(*given, **named)
        found[0, 1] += 0.05
        return found

    monkeypatch.setattr("attnviz.analysis.verification.Readouts.log_likelihood", altered)
    (given,) = mounted(app, "verification_badge")
    found = fetched(given["at"], selected(app).step + 1)  # the numbers of the other step are known already
    assert not found["holds"]
    assert "logarithms of the likelihoods" in found["summary"] + "".join(found["wrong"])
    assert next(row[0] for row in found["rows"] if row[3] == "✗").startswith(("likelihoods", "logarithms"))
