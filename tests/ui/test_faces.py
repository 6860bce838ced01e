"""Heatmap choice between prior attention, posterior attention and their difference, in English and French."""

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


def how_to_read_texts(app: AppTest) -> list[str]:
    """Return the texts on how to read the heatmap, with `#` for numbers that depend on the random model."""
    return [re.sub(r"\d\d+", "#", text) for text in panel_texts(app, "how_to_read")]


def test_face_control_switches_and_survives_a_language_change(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page()
    assert field(app, "face")["value"] == "before"
    texts_by_face = {"before": how_to_read_texts(app)}
    for face in ("after", "difference", "after"):
        set_field(app, "face", face)
        assert not app.exception
        assert texts_by_face.setdefault(face, how_to_read_texts(app)) == how_to_read_texts(app)
        assert app.session_state["face"] == face
    assert texts_by_face == snapshot
    set_field(app, "lang", "fr")
    assert field(app, "face")["value"] == "after"
    assert how_to_read_texts(app) not in texts_by_face.values()
    set_field(app, "face", "difference")
    set_field(app, "lang", "en")
    assert field(app, "face")["value"] == "difference"
    set_field(app, "face", "before")
    assert how_to_read_texts(app) == texts_by_face["before"]


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_link_selects_a_face_and_a_bad_one_is_reported(lang: str, page: Run, snapshot: SnapshotAssertion) -> None:
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


def test_posterior_is_computed_once_and_only_for_faces_that_need_it(page: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(resources, "posterior", lambda *given: calls.append(given) or analysis.posterior(*given))
    sentence = "Nobody has asked for this one yet."
    app = page(sentence=sentence)
    assert calls == []
    for face in ("after", "difference", "before", "after"):
        set_field(app, "face", face)
    set_field(app, "by", "pieces")
    page(sentence=sentence, face="difference", by="pieces")
    assert len(calls) == 1


def test_posterior_is_unavailable_without_weights_or_attention(
    models_folder: Path, make_network: ModelFactory, tokenizer: Tokenizer
) -> None:
    for trace in (synthetic.trace(), synthetic.trace(attention="none")):
        view = View(MAIN, trace)
        assert not has_posterior(trace)
        assert posterior_of(trace) is None
        session = {"face": "after"}
        assert shown_choices(session, view).face == "before"
        assert session["face"] == "after"  # it is stored for the next translation
    save_model(models_folder / "fixed", make_network("none"), tokenizer)
    trace = translate(str(models_folder / "fixed"), "cpu", SENTENCES[0], 1, None)
    assert not has_posterior(trace)


def test_table_has_the_numbers_of_the_selected_face(en_fr: Path, page: Run) -> None:
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


def test_saved_heatmap_has_the_numbers_of_the_selected_face(en_fr: Path) -> None:
    trace: Trace = translate(str(en_fr), "cpu", SENTENCES[0], 1, None)
    view = View(MAIN, trace)
    posterior = analysis.posterior(trace, analysis.load_weights(en_fr))
    for face, expected in (("after", posterior), ("difference", posterior - trace.alignment)):
        saved = next(iter(pictures(view, {"face": face, "by": "pieces"})))
        np.testing.assert_allclose(saved.numbers.to_numpy(), expected, atol=1e-6)
        np.testing.assert_allclose(saved.figure.data[0].z, expected, atol=1e-6)
        assert saved.name == f"heatmap-{face}"
