"""Intervention controls: where the page offers them, their payload, and the weights of another step, model or gold."""

from __future__ import annotations

import dataclasses
import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError
from attnviz.analysis import posterior
from attnviz.checkpoint import save_model
from attnviz.model_folder import read_weights
from attnviz.text import EOS, Tokenizer
from attnviz.trace.interventions import ReplaceWeights, Temperature
from attnviz.translator import Translator
from attnviz.ui.resources import translate
from attnviz.ui.step.intervention_controls import FOILS, controls_payload
from attnviz.ui.step.what_if_panel import borrowed_row, lenders
from tests.conftest import ModelFactory
from tests.figures import synthetic
from tests.figures.payloads import figure_at
from tests.ui.opening import Run
from tests.ui.shown_payloads import fetched, mounted, panel_texts, payloads_of

SENTENCE = "Two dogs play in the snow."


@pytest.fixture
def models_folder(models_folder: Path, make_network: ModelFactory, tokenizer: Tokenizer) -> Path:
    """Return the folder of three models: two with attention, and one without."""
    save_model(models_folder / "dotted", make_network("general"), tokenizer)
    save_model(models_folder / "fixed", make_network("none"), tokenizer)
    return models_folder


@pytest.fixture
def page(page: Run) -> Run:
    """Return a function that opens the page with a sentence to intervene on."""
    return partial(page, sentence=SENTENCE)


def draggable_charts(app: AppTest) -> list[dict[str, str]]:
    return [given["hand"] for given in mounted(app, "chart") if "hand" in given]


def test_one_chart_has_draggable_weights_and_other_models_are_offered(page: Run) -> None:
    app = page()
    (hand,) = draggable_charts(app)
    assert hand["weight"] == "weight of {name}"
    (weight_controls,) = mounted(app, "intervention_controls")
    assert (weight_controls["models"], weight_controls["undo"]) == (["dotted"], False)
    (record,) = payloads_of(app, "intervention_controls")
    (player,) = mounted(app, "player")
    assert len(record["pieces"]) == len(player["orders"][0])
    assert len(record["written"]) == len(record["temperatures"]) == len(record["set"]) == len(player["orders"])
    assert record["posterior"]
    assert record["words"]["only"] == "Look only here"


def test_draggable_bars_are_those_of_the_weights(page: Run) -> None:
    app = page(lang="fr")
    (at,) = [given["at"] for given in mounted(app, "chart") if "hand" in given]
    picture = fetched(at)
    weights = figure_at(picture, 0)["layout"]["meta"]["weights"]
    assert (weights["trace"], weights["axis"]) == (1, "xaxis2")
    assert draggable_charts(app)[0]["weight"] == "poids de {name}"
    (record,) = payloads_of(app, "intervention_controls")
    assert record["words"]["only"] == "Seulement ici"


def test_foils_are_the_likeliest_pieces_that_were_not_written(page: Run, en_fr: Path) -> None:
    app = page(search="greedy")
    trace = translate(str(en_fr), "auto", SENTENCE, 1, None)
    (record,) = payloads_of(app, "other_word")
    assert set(record["offers"]) == {str(i) for i in range(len(trace.target_ids))}
    for step, offered in record["offers"].items():
        chosen, likeliest = trace.target_ids[int(step)], trace.top_ids[int(step)].tolist()
        expected = [piece for piece in likeliest if piece != chosen and piece >= EOS][:FOILS]
        assert len(expected) == 10
        assert [foil["piece"] for foil in offered["foils"]] == expected
        assert offered["instead"].startswith("Instead of ")


def test_model_without_attention_offers_only_another_word(page: Run, snapshot: SnapshotAssertion) -> None:
    app = page(model="fixed")
    assert not draggable_charts(app)
    assert not mounted(app, "intervention_controls")
    assert panel_texts(app, "stage_3")[-1] == snapshot(name="caption")
    (record,) = payloads_of(app, "other_word")
    assert record["words"]["then"] == snapshot(name="then")


def test_controls_start_at_the_existing_interventions() -> None:
    trace = synthetic.trace()
    width = len(trace.source_pieces)
    assert controls_payload(trace, posterior=False)["temperatures"] == [1] * len(trace.target_ids)
    row = ReplaceWeights((1 / width,) * width, 2)
    changed = dataclasses.replace(trace, interventions=(Temperature(3.0), Temperature(0.5, 1), row))
    record = controls_payload(changed, posterior=False)
    assert record["temperature"] == 3
    assert record["temperatures"][:3] == [1, 0.5, 1]
    assert record["set"][:4] == [False, False, True, False]
    endless = dataclasses.replace(trace, interventions=(Temperature(math.inf), Temperature(2.0, 1)))
    record = controls_payload(endless, posterior=False)
    assert (record["temperature"], record["temperatures"][:2]) == ("Infinity", [1, 2])


def test_borrowed_weights_equal_those_of_their_source(models_folder: Path) -> None:
    trace = translate(str(models_folder / "en-fr"), "cpu", SENTENCE, 1, None)
    np.testing.assert_allclose(borrowed_row(trace, 0, "step", "2"), trace.alignment[2], atol=1e-6)
    after = posterior(trace, read_weights(models_folder / "en-fr"))
    np.testing.assert_allclose(borrowed_row(trace, 1, "posterior", ""), after[1], atol=1e-9)
    assert lenders(trace) == ["dotted"]
    other = Translator.load(models_folder / "dotted", device="cpu").translate(SENTENCE, target=trace.translation)
    if other.target_ids == trace.target_ids:  # with the same pieces, the rows correspond
        np.testing.assert_allclose(borrowed_row(trace, 1, "model", "dotted"), other.alignment[1], atol=1e-5)
    row = borrowed_row(trace, 0, "links", "1-0")
    assert row[list(trace.words().source_groups[1])].sum() == pytest.approx(1)


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_note_explains_that_the_weights_decide_the_context(page: Run, lang: str, snapshot: SnapshotAssertion) -> None:
    (record,) = payloads_of(page(lang=lang), "intervention_controls")
    assert record["words"]["note"] == snapshot


def test_borrowed_weights_bring_the_context_vector_along(en_fr: Path) -> None:
    """The annotations do not change, so borrowed weights determine the context vector."""
    translator = Translator.load(en_fr, device="cpu")
    trace = translator.translate(SENTENCE, beam=1)
    row = borrowed_row(trace, 0, "step", "2")
    changed = translator.translate(SENTENCE, interventions=[ReplaceWeights(tuple(row.tolist()), 0)], beam=1)
    np.testing.assert_allclose(changed.contexts[0], trace.contexts[2], atol=1e-6)
    assert not np.allclose(changed.states[0], trace.states[2], atol=1e-3)


def test_invalid_source_of_weights_raises_a_readable_error(en_fr: Path, snapshot: SnapshotAssertion) -> None:
    trace = translate(str(en_fr), "cpu", SENTENCE, 1, None)
    messages = {}
    for source, of in (
        ("step", "999"),
        ("step", "²"),
        ("links", "gold"),
        ("links", "0-99"),
        ("model", "fixed"),
        ("model", "../en-fr"),
        ("nowhere", ""),
    ):
        with pytest.raises(AttnvizError) as error:
            borrowed_row(trace, 0, source, of)
        messages[f"{source} {of!r}"] = str(error.value)
    assert messages == snapshot


def test_posterior_cannot_be_borrowed_without_the_model(models_folder: Path) -> None:
    with pytest.raises(AttnvizError, match="Posterior attention"):
        borrowed_row(synthetic.trace(), 0, "posterior", "")
