"""Attention before and after the word on the page, in both languages.

It is offered where the weights are available, drawn as chosen, and stored in the address.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, analysis
from attnviz.checkpoint import save_model
from attnviz.text import Tokenizer
from attnviz.ui import resources
from attnviz.ui.page_state.view import MAIN, View
from attnviz.ui.resources import has_posterior, posterior_of, translate
from attnviz.ui.step.heatmap import shown_choices
from attnviz.ui.toolbar.downloads import pictures
from tests.conftest import SENTENCES, ModelFactory
from tests.figures import synthetic
from tests.ui.fields import field, set_field
from tests.ui.opening import Run
from tests.ui.shown_payloads import panel_texts, tables_of


def reading(app: AppTest) -> list[str]:
    """Return how the heatmap is to be read, with `#` for the counts of what the random model writes."""
    return [re.sub(r"\d\d+", "#", told) for told in panel_texts(app, "how_to_read")]


def test_the_control_leads_through_the_faces_to_and_fro_and_a_language_keeps_it(
    page: Run, snapshot: SnapshotAssertion
) -> None:
    app = page()
    assert field(app, "face")["value"] == "before"
    told = {"before": reading(app)}
    for face in ("after", "difference", "after"):
        set_field(app, "face", face)
        assert not app.exception
        assert told.setdefault(face, reading(app)) == reading(app)
        assert app.session_state["face"] == face
    assert told == snapshot
    set_field(app, "lang", "fr")
    assert field(app, "face")["value"] == "after"
    assert reading(app) not in told.values()
    set_field(app, "face", "difference")
    set_field(app, "lang", "en")
    assert field(app, "face")["value"] == "difference"
    set_field(app, "face", "before")
    assert reading(app) == told["before"]


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_a_link_opens_its_face_and_a_bad_one_is_told(lang: str, page: Run, snapshot: SnapshotAssertion) -> None:
    app = page(face="difference", lang=lang)
    assert field(app, "face")["value"] == "difference"
    assert field(app, "colours")["disabled"]
    assert panel_texts(app, "link_problem") == []
    app = page(face="sideways", lang=lang)
    assert field(app, "face")["value"] == "before"
    assert not field(app, "colours")["disabled"]
    assert panel_texts(app, "link_problem") == snapshot
    for face in ("after", "before"):
        set_field(app, "face", face)
        assert panel_texts(app, "link_problem") == []


def test_the_posterior_is_reckoned_once_and_only_for_a_face_that_needs_it(
    page: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    monkeypatch.setattr(resources, "posterior", lambda *given: made.append(given) or analysis.posterior(*given))
    sentence = "Nobody has asked for this one yet."
    app = page(sentence=sentence)
    assert made == []
    for face in ("after", "difference", "before", "after"):
        set_field(app, "face", face)
    set_field(app, "by", "pieces")
    page(sentence=sentence, face="difference", by="pieces")
    assert len(made) == 1


def test_without_weights_or_attention_nothing_is_offered(
    models_folder: Path, make_network: ModelFactory, tokenizer: Tokenizer
) -> None:
    for trace in (synthetic.trace(), synthetic.trace(attention="none")):
        view = View(MAIN, trace)
        assert not has_posterior(trace)
        assert posterior_of(trace) is None
        kept = {"face": "after"}
        assert shown_choices(kept, view).face == "before"
        assert kept["face"] == "after"  # for the next translation
    save_model(models_folder / "fixed", make_network("none"), tokenizer)
    trace = translate(str(models_folder / "fixed"), "cpu", SENTENCES[0], 1, None)
    assert not has_posterior(trace)


def test_the_table_has_the_numbers_of_the_face_on_show(en_fr: Path, page: Run) -> None:
    app = page(sentence=SENTENCES[0], face="after", by="pieces", search="greedy")
    app.session_state["tables"] = True
    app.run()
    assert not app.exception
    trace = translate(str(en_fr), "auto", SENTENCES[0], 1, None)
    expected = analysis.posterior(trace, analysis.load_weights(en_fr))
    (table, *_) = tables_of(app)
    drawn = [[float(cell) for cell in row[1:]] for row in table["rows"]]
    np.testing.assert_allclose(drawn, expected, rtol=1e-5, atol=1e-6)
    assert table["name"] == "Alignment, After the word (α′)"


def test_the_files_are_of_the_face_on_show(en_fr: Path) -> None:
    trace: Trace = translate(str(en_fr), "cpu", SENTENCES[0], 1, None)
    view = View(MAIN, trace)
    posterior = analysis.posterior(trace, analysis.load_weights(en_fr))
    for face, expected in (("after", posterior), ("difference", posterior - trace.alignment)):
        saved = next(iter(pictures(view, {"face": face, "by": "pieces"})))
        np.testing.assert_allclose(saved.numbers.to_numpy(), expected, atol=1e-6)
        np.testing.assert_allclose(saved.figure.data[0].z, expected, atol=1e-6)
        assert saved.name == f"heatmap-{face}"
