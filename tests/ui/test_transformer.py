"""First page with a transformer: its heads, stages, verification, files, and texts about what is missing."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz.checkpoint import save_model
from attnviz.export.saved_files import FigureOptions, contents
from attnviz.installed_models import installed_models
from attnviz.network import DecomposableConfig, TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import TransformerTrace
from attnviz.trace.interventions import ForceWords, Temperature
from attnviz.translator import Translator
from attnviz.ui.toolbar.downloads import pictures
from attnviz.ui.view import View
from tests.conftest import SENTENCES
from tests.detectors import random_detector
from tests.saved_pages import saved_view
from tests.snapshots import without_numbers
from tests.transformers import random_transformer
from tests.ui.fields import fields, options, set_field
from tests.ui.opening import Run, upload
from tests.ui.shown_payloads import (
    address,
    all_payloads,
    badge,
    captions,
    fetched,
    heatmap_of,
    mounted,
    page_html,
    panel_texts,
    shown_equations,
    texts,
)
from tests.what_if_links import link

LAYERS, HEADS = 2, 3
NAME = "a-transformer"
LINK = {"model": NAME, "sentence": SENTENCES[0], "search": "greedy", "depth": "everything"}


@pytest.fixture
def transformer(models_folder: Path, tokenizer: Tokenizer) -> Path:
    """Return the folder of a transformer, next to that of a recurrent model."""
    network = random_transformer(TransformerConfig(len(tokenizer), 12, HEADS, LAYERS, 5), 1)
    save_model(models_folder / NAME, network, tokenizer)
    return models_folder / NAME


@pytest.fixture
def trace(transformer: Path) -> TransformerTrace:
    """Return the translation of the sentence in `LINK`."""
    return Translator.load(transformer, "cpu").translate(SENTENCES[0], beam=1)


def weights_in_heatmap(app: AppTest) -> NDArray[np.float64]:
    """Return the numbers of the shown heatmap."""
    cells = json.loads(heatmap_of(app)["template"])["data"][0]["z"]
    integers = np.frombuffer(base64.b64decode(cells["strips"]), dtype="<i2").reshape(-1, cells["size"])
    return integers * cells["scale"]


def page_prose(app: AppTest) -> str:
    """Return the texts, captions and HTML of the page."""
    return "\n".join([texts(app), *captions(app), *page_html(app)])


def open_trace(app: AppTest, text: str) -> AppTest:
    """Upload a saved trace to the page."""
    return upload(app, "one.json", text.encode())


def payload_addresses(app: AppTest) -> dict[str, str]:
    """Return the addresses of the payloads of the charts, by payload name."""
    places = [given["at"] for given in mounted(app, "chart") if "sent" not in given]
    return {at.split("?")[0].rpartition("/")[2]: at for at in places}


def test_transformer_is_offered_by_name_and_opened_by_a_link(transformer: Path, page: Run) -> None:
    app = page(**LINK)
    assert options(app, "model") == ["en-fr", NAME]
    assert f"{NAME} (attention not guided) on cpu · greedy search" in texts(app)
    assert address(app)["model"] == NAME


def test_detector_is_not_listed_as_a_translator(transformer: Path, tokenizer: Tokenizer) -> None:
    detector = random_detector(DecomposableConfig(len(tokenizer), 8, 6), 1)
    save_model(transformer.parent / "detector", detector, tokenizer)
    assert set(installed_models()) == {"en-fr", NAME}


@pytest.mark.parametrize(("depth", "least"), [("idea", 5), ("numbers", 10), ("everything", 12)])
def test_all_payloads_of_the_page_can_be_computed(transformer: Path, page: Run, depth: str, least: int) -> None:
    app = page(**LINK | {"depth": depth})
    assert len(list(all_payloads(app))) >= least
    assert ("heads" in fields(app)) == (depth != "idea")
    assert len(mounted(app, "equation")) == (0 if depth == "idea" else 5)


@pytest.mark.parametrize(("code", "layer", "head"), [(None, None, None), ("2", 1, None), ("1", 0, None), ("2.3", 1, 2)])
def test_linked_heads_are_shown(
    trace: TransformerTrace, page: Run, code: str | None, layer: int | None, head: int | None
) -> None:
    app = page(**LINK, **({"heads": code} if code else {}))
    expected = trace.select_heads(layer, head)
    np.testing.assert_allclose(weights_in_heatmap(app), expected.alignment, atol=2e-5)
    (player,) = mounted(app, "player")
    assert player["orders"] == np.argsort(-expected.alignment, axis=1, kind="stable").tolist()
    assert address(app).get("heads") == code


@pytest.mark.parametrize("code", ["3", "0", "1.4", "2.0", "x", "1.2.3", "None"])
def test_invalid_heads_fall_back_to_the_default(trace: TransformerTrace, page: Run, code: str) -> None:
    app = page(**LINK, heads=code)
    np.testing.assert_allclose(weights_in_heatmap(app), trace.alignment, atol=2e-5)
    assert "heads" not in address(app)


def test_heads_can_be_chosen_at_a_linked_step(trace: TransformerTrace, page: Run) -> None:
    app = page(**LINK)
    assert len(options(app, "heads")) == 1 + LAYERS + LAYERS * HEADS
    set_field(app, "heads", "1.2")
    assert not app.exception
    np.testing.assert_allclose(weights_in_heatmap(app), trace.select_heads(0, 1).alignment, atol=2e-5)
    assert address(app)["heads"] == "1.2"
    assert "head 2 of layer 1" in page_prose(app)


def test_stages_show_the_chosen_head(trace: TransformerTrace, page: Run, snapshot: SnapshotAssertion) -> None:
    app, seen = page(**LINK, heads="2.1"), trace.select_heads(1, 0)
    assert set(payload_addresses(app)) == {"energy", "softmax", "stream", "candidates"}
    equations, best = shown_equations(app), int(seen.alignment[0].argmax())
    assert len(equations) == 5
    assert f"&= {seen.cross_energies[1, 0, 0, best]:.3g}"[:7] in equations[0]
    titles = [stage["title"] for stage in mounted(app, "step_summary")[0]["stages"]]
    assert titles == snapshot


def test_mean_of_heads_opens_the_nearest_head(trace: TransformerTrace, page: Run, snapshot: SnapshotAssertion) -> None:
    layer, head = trace.nearest_head
    distances = np.abs(trace.cross_alignment - trace.alignment).sum(axis=(2, 3))
    assert distances[layer, head] == distances.min()
    captions = fetched(payload_addresses(page(**LINK))["energy"])["captions"]["0"]
    (nearest,) = re.findall(r"\w[^.]*: head \d+ of layer \d+\.", " ".join(captions))
    assert re.findall(r"\d+", nearest) == [str(head + 1), str(layer + 1)]
    assert without_numbers(nearest) == snapshot


def test_every_number_of_a_step_is_verified(transformer: Path, page: Run) -> None:
    found = badge(page(**LINK))
    assert found["holds"]
    rows = {name: mark for name, _, _, mark in found["rows"]}
    assert rows["energies e, French to English"] == "✓"
    assert set(rows.values()) == {"✓"}


def test_an_altered_number_is_found_in_a_saved_trace(trace: TransformerTrace, page: Run) -> None:
    scores = trace.cross_energies.copy()
    scores[1, 2, 0, 0] += 0.5
    wrong = dataclasses.replace(trace, cross_energies=scores)
    app = open_trace(page(**LINK), wrong.to_json())
    found = badge(app)
    assert not found["holds"]
    assert "energies e, French to English" in found["summary"]


def test_unavailable_sections_are_explained(transformer: Path, page: Run, snapshot: SnapshotAssertion) -> None:
    app = page(**LINK, after_word="1")
    panels = {key: panel_texts(app, key) for key in ("inside_energy", "inside_word", "looking_back", "stage_2")}
    assert panels == snapshot
    assert not mounted(app, "intervention_controls")
    assert len(mounted(app, "energy_decomposition")) == 1  # of the displayed head


def test_reopened_trace_shows_the_heads_it_was_saved_with(
    transformer: Path, trace: TransformerTrace, page: Run
) -> None:
    app = open_trace(page(**LINK | {"model": "en-fr"}), trace.select_heads(0, 2).to_json())
    assert f"model {NAME} on cpu" in texts(app)
    np.testing.assert_allclose(weights_in_heatmap(app), trace.select_heads(0, 2).alignment, atol=2e-5)
    assert badge(app)["holds"]
    shutil.rmtree(transformer)
    app.run()
    assert not app.exception
    assert "Numbers not verified" in texts(app)


def test_switching_to_a_recurrent_model_and_back_restores_the_page(transformer: Path, page: Run) -> None:
    app = page(**LINK, heads="1.1")
    before = weights_in_heatmap(app)
    for _ in range(2):
        set_field(app, "model", "en-fr")
        assert not app.exception
        assert {"energy", "softmax", "state", "maxout"} <= set(payload_addresses(app))
        assert len(shown_equations(app)) == 5
        assert mounted(app, "energy_decomposition")
        assert "heads" not in fields(app)
        assert "heads" not in address(app)
        assert badge(app)["holds"]
        set_field(app, "model", NAME)
        assert not app.exception
        np.testing.assert_array_equal(weights_in_heatmap(app), before)
        assert set(payload_addresses(app)) == {"energy", "softmax", "stream", "candidates"}
        assert badge(app)["holds"]


def test_another_word_can_be_written_and_is_verified(trace: TransformerTrace, page: Run) -> None:
    piece = next(int(one) for one in trace.top_ids[1] if one > 3 and one != trace.target_ids[1])
    app = page(**LINK, what_ifs=link(ForceWords((piece,), 1)), what_if="1", heads="1.2")
    assert not app.exception
    assert mounted(app, "other_word")
    (cards,) = mounted(app, "what_ifs")
    assert (len(cards["cards"]), cards["current"]) == (2, 1)
    assert badge(app)["holds"]


def test_attention_intervention_is_refused(transformer: Path, page: Run, snapshot: SnapshotAssertion) -> None:
    app = page(**LINK, what_ifs=link(Temperature(2.0, 0)), what_if="1")
    assert panel_texts(app, "what_if_problem") == snapshot
    assert mounted(app, "what_ifs")[0]["cards"] == []


@pytest.mark.parametrize("section", ["attributions", "perturbation-tests"])
def test_lab_explains_what_is_unavailable_for_a_transformer(
    transformer: Path, lab: Run, section: str, snapshot: SnapshotAssertion
) -> None:
    assert panel_texts(lab(section=section, **LINK), "section_panel") == snapshot


def test_lab_shows_the_beam_search_and_the_comparison(transformer: Path, lab: Run) -> None:
    assert len(list(all_payloads(lab(section="tree", **LINK)))) >= 2
    app = lab(section="comparison", other_model="en-fr", **LINK)
    assert not app.exception
    captions = json.dumps([fetched(one["at"])["captions"] for one in mounted(app, "chart")])
    assert NAME in captions
    assert "en-fr" in captions


def test_figures_and_files_can_be_saved(trace: TransformerTrace, transformer: Path) -> None:
    seen = trace.select_heads(1, 1)
    shown = list(pictures(View("", seen), {}))
    assert [one.name for one in shown] == [
        "heatmap",
        *(
            f"step-1-{name}"
            for name in ("energy", "softmax", "context", "stream", "candidates", "energy-decomposition")
        ),
    ]
    assert "head 2 of layer 2" in shown[0].heading
    for one in shown:
        assert one.draw().alt
        assert len(one.draw().frame())
    files = {ending: contents(seen, ending, FigureOptions()) for ending in ("html", "tex", "pharaoh", "json", "csv")}
    assert all(files.values())
    assert "Shown: head 2 of layer 2." in saved_view(files["html"].decode("utf-8")).texts()
    assert files["pharaoh"] != contents(trace.select_heads(0, 0), "pharaoh", FigureOptions())


def test_damaged_model_stays_in_the_list_of_models(transformer: Path) -> None:
    (transformer / "config.json").write_text("{")
    assert set(installed_models()) == {"en-fr", NAME}
