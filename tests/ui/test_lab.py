"""Lab as Streamlit runs it, without a browser: its sections, among them the beam search, neighbours and comparison."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import Translator
from attnviz.analysis.findings import Finding, FindingKind
from attnviz.analysis.perturbation_tests import PERTURBATION_REFERENCES
from attnviz.analysis.suspected_errors import SuspectedError
from attnviz.ui.examples import SAMPLE
from attnviz.ui.pages import lab_page as lab_script
from attnviz.ui.pages.lab_page import SECTIONS
from tests.conftest import SENTENCES
from tests.figures.payloads import fitting_figures
from tests.snapshots import without_numbers
from tests.ui.opening import field, open_alone, press, set_field
from tests.ui.shown_payloads import (
    address,
    fetched,
    mounted,
    page_html,
    panel_texts,
    payloads_of,
    picture_names,
    selected,
)

ATTENDING = ("attributions", "perturbation-tests")
"""Sections that a model without attention lacks."""


@pytest.fixture(autouse=True)
def _no_mistakes(monkeypatch) -> None:
    """Ignore suspected errors: the random model makes mistakes everywhere, at which the lab would open."""
    monkeypatch.setattr(lab_script, "shown_suspected_errors", lambda _: [])


def test_lab_opens_at_the_first_mistake(models_folder, monkeypatch) -> None:
    found = [Finding(FindingKind.REPEATED, 2.0, target=k, strong=k > 1) for k in (1, 3)]
    suspects = [SuspectedError(one, one.target, 0) for one in found]
    monkeypatch.setattr(lab_script, "shown_suspected_errors", lambda _: suspects)
    app = open_alone("lab", sentence="Two dogs play in the snow.")
    assert not app.exception
    assert selected(app).step == 3
    assert field(app, "section")["value"] == "perturbation-tests"
    set_field(app, "section", "attributions")
    assert address(app)["section"] == "attributions"
    (drawn,) = payloads_of(app, "chart")
    widths = [layout["narrowest"] for layout in drawn["fits"]]  # of panels as wide as the captions above them
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 600
    assert widths[-1] <= 358
    assert [len(one["layout"]["meta"]["panels"]) for one in fitting_figures(drawn)] == [6] * 3


def test_link_opens_a_section_which_alone_requests_payloads(three_models, snapshot) -> None:
    opened = {"sentence": "Two dogs play in the snow."}
    for section in SECTIONS:
        app = open_alone("lab", section=section, **opened)
        assert address(app) == (opened if section == next(iter(SECTIONS)) else opened | {"section": section})
        assert picture_names(app) == snapshot(name=section)
    without = [panel_texts(open_alone("lab", section=section, model="fixed"), "section_panel") for section in ATTENDING]
    assert without == snapshot(name="without attention")
    app = open_alone("lab")
    assert len(payloads_of(app, "chart")) == 1
    set_field(app, "all_steps", True)
    charts = [given["at"].split("/")[2].split("?")[0] for given in mounted(app, "chart")]
    assert charts == ["perturbation-tests", "shuffled", "minimal-change"]
    assert all(payloads_of(app, "chart"))
    shown = " ".join(page_html(app))
    assert all(f'href="https://arxiv.org/abs/{number}"' in shown for *_, number in PERTURBATION_REFERENCES)
    set_field(app, "lang", "fr")
    assert field(app, "section")["value"] == "perturbation-tests"


@pytest.fixture
def shown(en_fr) -> Translator:
    return Translator.load(en_fr, device="cpu")


def test_nearest_sample_entries_match_a_brute_force_search(models_folder, shown) -> None:
    """The reference is computed from the traces of all pairs, in float64."""
    (listed,) = payloads_of(
        open_alone("lab", section="neighbours", sentence=SENTENCES[0], search="greedy"), "neighbours", step=1
    )
    query = shown.translate(SENTENCES[0], beam=1).states[1].astype(np.float64)
    expected = []
    for source, target in (line.split("\t") for line in SAMPLE.read_text(encoding="utf-8").splitlines()):
        states = shown.translate(source, target=target).states.astype(np.float64)
        cosines = states @ query / np.linalg.norm(states, axis=1) / np.linalg.norm(query)
        expected += [(cosine, source, target, step) for step, cosine in enumerate(cosines, 1)]
    expected.sort(key=lambda one: -one[0])
    listed_cosines = [float(entry["near"].removeprefix("cos = ")) for entry in listed["entries"]]
    np.testing.assert_allclose(listed_cosines, [one[0] for one in expected[: len(listed_cosines)]], atol=2e-3)
    assert expected[0][0] - expected[1][0] > 1e-3
    entry, (_, source, target, step) = listed["entries"][0], expected[0]
    to = urlsplit(entry["to"])
    opened = parse_qs(f"{to.query}&{to.fragment}")
    assert [opened[name] for name in ("sentence", "target", "step")] == [[source], [target], [str(step)]]
    assert "".join("".join(entry[part] for part in ("before", "marked", "after")).split()) == "".join(target.split())


def test_map_has_a_point_for_each_vector_and_each_step(models_folder, shown, snapshot) -> None:
    app = open_alone("lab", section="neighbours", sentence=SENTENCES[0], search="greedy", vectors="annotation")
    (drawn,) = payloads_of(app, "chart")
    figure = json.loads(drawn["template"])
    points, opens = figure["data"][0], figure["layout"]["meta"]["opens"]
    assert len(points["text"]) == len(points["customdata"])
    pair, way = points["customdata"][0]
    assert way == "#source=1"
    assert parse_qs(urlsplit(opens[pair]).query)["model"] == ["en-fr"]
    assert len(drawn["values"]) == len(shown.translate(SENTENCES[0], beam=1).target_pieces)
    assert without_numbers(drawn["captions"]["every"][1]) == snapshot


def picture(app: AppTest, **options: str) -> dict[str, Any]:
    assert not app.exception
    (chart,) = mounted(app, "chart")
    return fetched(chart["at"], **options)


def test_dropped_and_swapped_words_change_the_other_sentence_and_the_address(three_models, snapshot) -> None:
    app = open_alone("lab", section="comparison", compare="sentence", sentence=SENTENCES[0])
    same = panel_texts(app, "compare_told")
    assert same == snapshot
    set_field(app, "edited_word", "5")
    press(app, "drop_word")
    without_red = SENTENCES[0].replace(" red", "")
    assert field(app, "other_sentence")["value"] == without_red
    assert address(app)["other_sentence"] == without_red
    assert "riding a <del>red</del> bicycle" in "".join(element for element in page_html(app))
    set_field(app, "edited_word", "0")
    press(app, "swap_words")
    assert field(app, "other_sentence")["value"] == without_red.replace("A girl", "girl A")
    set_field(app, "other_sentence", SENTENCES[6])
    assert picture(app)
    set_field(app, "held", True)
    assert address(app)["held"] == "1"
    first = mounted(app, "player")[0]["target"]
    words = fitting_figures(picture(app, by="words"))[0]["data"][-1]["text"]
    assert len(words) == len(first)  # the same words, from another sentence
    press(app, "undo_edits")
    assert panel_texts(app, "compare_told") == same
    assert "other_sentence" not in address(app)
