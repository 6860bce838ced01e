"""Heatmap choice between prior attention, posterior attention and their difference, in English and French."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, analysis
from attnviz.checkpoint import save_model
from attnviz.text import Tokenizer
from attnviz.trace.drawing import HeatmapChoices
from attnviz.ui import resources
from attnviz.ui.page_state.selection import Selection, linked_selection, with_selection
from attnviz.ui.resources import cached_posterior, has_posterior, translate
from attnviz.ui.step.heatmap_panel import shown_choices
from attnviz.ui.toolbar.downloads import pictures
from attnviz.ui.view import MAIN, View
from tests.conftest import SENTENCES, ModelFactory
from tests.figures import synthetic
from tests.ui.fields import field
from tests.ui.opening import Run
from tests.ui.shown_payloads import heatmap_of, panel_texts, tables_of


def test_heatmap_of_each_face_has_its_texts_in_both_languages(page: Run, snapshot: SnapshotAssertion) -> None:
    for lang in ("en", "fr"):
        app = page(lang=lang)
        assert field(app, "face")["option"] == "face"
        shown = panel_texts(app, "alignment")
        assert [re.sub(r"\d\d+", "#", text) for text in shown] == snapshot(name=lang)  # the random model’s numbers


def test_posterior_is_computed_once_and_only_for_faces_that_need_it(page: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(resources, "posterior", lambda *given: calls.append(given) or analysis.posterior(*given))
    sentence = "Nobody has asked for this one yet."
    app = page(sentence=sentence)
    heatmap_of(app)
    assert calls == []
    for face in ("after", "difference", "before", "after"):
        heatmap_of(app, face=face)
    heatmap_of(page(sentence=sentence), face="difference", by="steps")
    assert len(calls) == 1


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
    name = "Alignment, After the word (α′)"
    (table,) = [one for one in tables_of(app, face="after", by="steps") if one["name"] == name]
    drawn = [[float(cell) for cell in row[1:]] for row in table["rows"]]
    np.testing.assert_allclose(drawn, expected, rtol=1e-5, atol=1e-6)


def test_saved_heatmap_has_the_numbers_of_the_selected_face(en_fr: Path) -> None:
    trace: Trace = translate(str(en_fr), "cpu", SENTENCES[0], 1, None)
    view = View(MAIN, trace)
    posterior = analysis.posterior(trace, analysis.load_weights(en_fr))
    for face, expected in (("after", posterior), ("difference", posterior - trace.alignment)):
        chosen = Selection(choices=HeatmapChoices(face=face, end=True))
        saved = next(iter(pictures(view, with_selection({}, view, chosen))))
        np.testing.assert_allclose(saved.draw().frame().to_numpy(), expected, atol=1e-6)
        np.testing.assert_allclose(saved.draw().data[0]["z"], expected, atol=1e-6)
        assert saved.name == f"heatmap-{face}"
