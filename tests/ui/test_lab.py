"""Lab as Streamlit runs it, without a browser: its sections, among them the beam search, neighbours and comparison."""

from __future__ import annotations

import html
import json
import re
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator
from attnviz.analysis.findings import Finding, FindingKind
from attnviz.analysis.neighbours import METRICS
from attnviz.analysis.perturbation_tests import PERTURBATION_REFERENCES
from attnviz.analysis.suspected_errors import SuspectedError
from attnviz.checkpoint import save_model
from attnviz.languages import set_language
from attnviz.palette import ThemeName
from attnviz.text import Tokenizer
from attnviz.trace import WhatIf, WhatIfs
from attnviz.trace.interventions import Temperature
from attnviz.ui import resources
from attnviz.ui.embedding import in_session, in_theme
from attnviz.ui.examples import DEFAULT_SENTENCE, SAMPLE
from attnviz.ui.lab.analyses import finished_hypotheses_payload, tree_payload
from attnviz.ui.lab.comparison_section import (
    COMPARED_KINDS,
    ComparedPair,
    compared_with,
    differing_sentences_html,
)
from attnviz.ui.pages import lab_page as lab_script
from attnviz.ui.pages.lab_page import SECTIONS
from attnviz.ui.payloads import PayloadRequest
from attnviz.ui.payloads import address as address_of
from attnviz.ui.view import MAIN, View
from tests.conftest import SENTENCES, ModelFactory
from tests.figures import synthetic
from tests.figures.payloads import fitting_figures
from tests.snapshots import without_numbers
from tests.ui.fields import field, press, set_field
from tests.ui.opening import Run
from tests.ui.shown_payloads import address, fetched, mounted, page_html, panel_texts, payloads_of, selected

ANALYSIS_PAYLOADS: tuple[tuple[str, dict[str, str]], ...] = (
    ("attributions", {"by": "words"}),
    ("attributions", {"by": "words", "size": "-narrow"}),
    ("attributions", {"by": "steps"}),
    ("perturbation-tests", {}),
    ("shuffled", {}),
    ("minimal-change", {}),
)
"""Payloads of the attributions, the perturbation tests and the minimal change, with what the browser fills in."""
ATTENDING = ("attributions", "perturbation-tests")
"""Sections that a model without attention lacks."""


@pytest.fixture(autouse=True)
def _no_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ignore suspected errors: the random model makes mistakes everywhere, at which the lab would open."""
    monkeypatch.setattr(lab_script, "shown_suspected_errors", lambda _: [])


def test_lab_opens_at_the_first_mistake(lab: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    suspects = [
        SuspectedError(Finding(FindingKind.REPEATED, 2.0, target=k, strong=strong), k, 0)
        for k, strong in ((1, False), (3, True))
    ]
    monkeypatch.setattr(lab_script, "shown_suspected_errors", lambda _: suspects)
    app = lab(sentence="Two dogs play in the snow.")
    assert not app.exception
    assert selected(app).step == 3
    assert field(app, "section")["value"] == "perturbation-tests"
    set_field(app, "section", "attributions")
    assert address(app)["section"] == "attributions"


@pytest.mark.usefixtures("two_models")
def test_link_opens_a_section_and_the_address_has_it(lab: Run, snapshot: SnapshotAssertion) -> None:
    opened = {"sentence": "Two dogs play in the snow."}
    for section in SECTIONS:
        app = lab(section=section, **opened)
        (player,) = mounted(app, "player")
        assert [word["text"] for word in player["source"][:2]] == ["Two", "dogs"]
        assert address(app) == (opened if section == next(iter(SECTIONS)) else opened | {"section": section})
    without = [panel_texts(lab(section=section, model="plain"), "section_panel") for section in ATTENDING]
    assert without == snapshot(name="without attention")


def test_only_the_current_section_requests_payloads(lab: Run) -> None:
    app = lab()
    set_field(app, "section", "attributions")
    assert len(payloads_of(app, "chart")) == 1
    assert mounted(app, "player")[0]["source"][1]["text"] == DEFAULT_SENTENCE.split()[1]
    set_field(app, "section", "perturbation-tests")
    assert len(payloads_of(app, "chart")) == 1
    set_field(app, "all_steps", True)
    assert not app.exception
    assert [given["at"].split("/")[2].split("?")[0] for given in mounted(app, "chart")] == [
        "perturbation-tests",
        "shuffled",
        "minimal-change",
    ]
    assert all(payloads_of(app, "chart"))
    html_of_page = " ".join(page_html(app))
    for who, title, number in PERTURBATION_REFERENCES:
        assert f"{html.escape(who)}. {title}." in html_of_page
        assert f'href="https://arxiv.org/abs/{number}"' in html_of_page
    set_field(app, "lang", "fr")
    assert field(app, "section")["value"] == "perturbation-tests"


@pytest.fixture
def trace(en_fr: Path) -> Trace:
    """Return a registered translation whose model is installed."""
    return resources.translate(str(en_fr), "cpu", "Two dogs play in the snow.", 1, None)


def test_payloads_depend_on_step_theme_and_language(trace: Trace) -> None:
    def fetch(theme: ThemeName, name: str, filled: dict[str, str]) -> dict[str, Any]:
        with in_theme(theme):
            at = address_of(trace, name, every=False, options=[*filled][:1], sized="size" in filled)
        made: dict[str, Any] = fetched(at, 1, **filled)
        return made

    def made(theme: ThemeName) -> list[dict[str, Any]]:
        return [fetch(theme, name, filled) for name, filled in ANALYSIS_PAYLOADS]

    light, dark = made("light"), made("dark")
    set_language("fr")
    for one, other, french in zip(light, dark, made("light"), strict=True):
        assert list(one["captions"]) in (["1"], ["every"])
        assert one["template"] != other["template"]
        assert one["captions"] != french["captions"]


def test_every_figure_of_a_section_has_a_name_heading_and_numbers(trace: Trace) -> None:
    for section in SECTIONS.keys() - {"comparison"}:  # which draws what the visitor chooses
        asked = PayloadRequest({"view": View(MAIN, trace)}, {})
        chosen = {"width": "5", "vectors": "state", "near": METRICS[0], "among": "sample"}
        with in_session(asked.session | chosen):
            offered = SECTIONS[section].offered
            pictures, tables = list(offered.pictures(asked)), [table for _, table in offered.tables(asked)]
        assert pictures
        assert len({one.name for one in pictures}) == len(pictures)
        assert all(len(one.draw().frame()) and one.draw().data and one.title for one in pictures)
        assert all(map(len, tables))


@pytest.fixture
def page(lab: Run) -> Run:
    """Return a function that opens the section as a link does."""
    return partial(lab, section="tree", sentence=SENTENCES[0])


@pytest.fixture
def shown(en_fr: Path) -> Translator:
    """Return the translator of the model that the page shows."""
    return Translator.load(en_fr, device="cpu")


def _figure(app: AppTest) -> dict[str, Any]:
    (record,) = payloads_of(app, "chart")
    drawn: dict[str, Any] = json.loads(record["template"])
    return drawn


def test_tree_shows_the_search_that_made_the_translation(page: Run, shown: Translator) -> None:
    app = page(search="beam 3")
    assert not app.exception
    assert "width" not in address(app)
    tree = shown.beam_tree(SENTENCES[0], beam=3)
    assert _figure(app)["layout"]["meta"]["tree"]["pieces"] == [node.piece_id for node in tree.nodes]
    (listed,) = payloads_of(app, "hypotheses")
    assert [entry["text"] for entry in listed["entries"]] == [one.translation for one in tree.hypotheses]
    assert [tuple(entry["pieces"]) for entry in listed["entries"]] == [tree.ids(index) for index in tree.finished]
    assert [entry["shown"] for entry in listed["entries"]] == [True, False, False]
    assert _figure(app)["layout"]["meta"]["tree"]["shown"] == listed["entries"][0]["pieces"]


def test_other_width_is_in_the_address_and_read_from_a_link(page: Run) -> None:
    app = page(search="beam 3")
    set_field(app, "width", "7")
    assert not app.exception
    assert address(app)["width"] == "7"
    assert len(payloads_of(app, "hypotheses")[0]["entries"]) == 7
    linked = page(search="beam 3", width="7")
    assert field(linked, "width")["value"] == "7"
    assert address(linked)["width"] == "7"
    assert _figure(linked) == _figure(app)
    set_field(app, "width", "3")
    assert "width" not in address(app)


def _payload_request(trace: Trace) -> PayloadRequest:
    return PayloadRequest({"trace": trace}, {"steps": "all", "theme": "light", "part": "4"})


def test_search_applies_the_interventions(shown: Translator) -> None:
    changed = [Temperature(4.0)]
    trace = shown.translate(SENTENCES[0], beam=4, interventions=changed)
    tree = shown.beam_tree(SENTENCES[0], beam=4, interventions=changed)
    listed = finished_hypotheses_payload(_payload_request(trace))["entries"]
    assert [tuple(one["pieces"]) for one in listed] == [tree.ids(index) for index in tree.finished]
    assert listed[0]["shown"]
    caption = tree_payload(_payload_request(trace))["captions"]["every"][1]
    assert "was chosen" in caption
    assert "parts" not in caption


@pytest.fixture
def neighbours(lab: Run) -> Run:
    """Return a function that opens the section as a link does."""
    return partial(lab, section="neighbours", sentence=SENTENCES[0], search="greedy")


def test_nearest_sample_entries_match_a_brute_force_search(neighbours: Run, shown: Translator) -> None:
    """The reference is computed from the traces of all pairs, in float64."""
    app = neighbours()
    assert not app.exception
    (listed,) = payloads_of(app, "neighbours", step=1)
    pairs = [line.split("\t") for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    query = shown.translate(SENTENCES[0], beam=1).states[1].astype(np.float64)
    expected = []
    for source, target in pairs:
        states = shown.translate(source, target=target).states.astype(np.float64)
        cosines = states @ query / np.linalg.norm(states, axis=1) / np.linalg.norm(query)
        expected += [(cosine, source, target, step) for step, cosine in enumerate(cosines, 1)]
    expected.sort(key=lambda one: -one[0])
    listed_cosines = [float(entry["near"].removeprefix("cos = ")) for entry in listed["entries"]]
    np.testing.assert_allclose(listed_cosines, [one[0] for one in expected[: len(listed_cosines)]], atol=2e-3)
    to = urlsplit(listed["entries"][0]["to"])
    first = parse_qs(f"{to.query}&{to.fragment}")
    assert expected[0][0] - expected[1][0] > 1e-3
    assert (first["sentence"], first["target"], first["step"]) == (
        [expected[0][1]],
        [expected[0][2]],
        [str(expected[0][3])],
    )
    whole = "".join(listed["entries"][0][part] for part in ("before", "marked", "after"))
    assert "".join(whole.split()) == "".join(expected[0][2].split())


def test_map_has_a_point_for_each_vector_and_each_step(
    neighbours: Run, shown: Translator, snapshot: SnapshotAssertion
) -> None:
    app = neighbours(vectors="annotation")
    (drawn,) = payloads_of(app, "chart")
    figure = json.loads(drawn["template"])
    points = figure["data"][0]
    meta = figure["layout"]["meta"]
    assert len(points["text"]) == len(points["customdata"])
    pair, way = points["customdata"][0]
    assert way == "#source=1"
    assert parse_qs(urlsplit(meta["opens"][pair]).query)["model"] == ["en-fr"]
    steps = len(shown.translate(SENTENCES[0], beam=1).target_pieces)
    assert len(drawn["values"]) == steps
    assert without_numbers(drawn["captions"]["every"][1]) == snapshot


TRACE = synthetic.trace()


MODELS = ["one", "two"]


def a_view(number: int = 0, count: int = 0) -> View:
    """Return a view of a translation with `count` what-ifs, of which what-if `number` is shown."""
    traces = tuple(synthetic.trace(seed=k + 1) for k in range(count))
    what_ifs = WhatIfs(TRACE, tuple(WhatIf(0, Temperature(2.0, k)) for k in range(count)), traces)
    return View(MAIN, what_ifs.trace(number), what_ifs, number)


CHOICES = st.fixed_dictionaries(
    {},
    optional={
        "compare": st.sampled_from([*COMPARED_KINDS, "x", ""]),
        "other_model": st.sampled_from([*MODELS, "three", ""]),
        "other_what_if": st.sampled_from(["0", "1", "2", "9", "-1", "x", ""]),
    },
)


@given(chosen=CHOICES, models=st.sampled_from([MODELS, []]), number=st.integers(0, 2), count=st.integers(2, 3))
def test_any_choice_is_used_if_it_is_offered(
    chosen: dict[str, Any], models: list[str], number: int, count: int
) -> None:
    view = a_view(number, count)
    with pytest.MonkeyPatch.context() as patch, in_session(chosen):
        patch.setattr("attnviz.ui.lab.comparison_section.installed_models", lambda: dict.fromkeys(models))
        kind, other = compared_with(view)
    assert kind == (chosen["compare"] if chosen.get("compare") in COMPARED_KINDS else "model")
    offered, default = {
        "model": (models, next(iter(models), "")),
        "sentence": ([], ""),
        "what-if": ([str(k) for k in range(count + 1) if k != number], "0" if number else str(count)),
    }[kind]
    requested = chosen.get({"model": "other_model", "what-if": "other_what_if"}.get(kind, ""))
    assert other == (requested if requested in offered else default)


def test_differing_words_are_marked_and_equal_sentences_left_out() -> None:
    one = synthetic.trace("The agreement was signed .", "Accord signé .")
    two = synthetic.trace("The new agreement signed .", "Accord signé .")
    html = differing_sentences_html(ComparedPair(one, two, ("a", "b"), "first"))
    assert re.findall("<(del|ins)>(.*?)</", html) == [("del", "was"), ("ins", "new")]
    assert "Accord" not in html
    assert "The agreement <del>was</del> signed" in html
    assert differing_sentences_html(ComparedPair(one, one, ("a", "b"), "first")) == ""


@pytest.fixture
def two_models(models_folder: Any, make_network: ModelFactory, tokenizer: Tokenizer) -> Any:
    save_model(models_folder / "dotted", make_network("general"), tokenizer)
    save_model(models_folder / "plain", make_network("none"), tokenizer)
    return models_folder


def picture(app: AppTest, **options: str) -> dict[str, Any]:
    """Return the payload of the chart of the section, with these display options."""
    assert not app.exception
    ((found),) = [fetched(one["at"], **options) for one in mounted(app, "chart")]
    return dict(found)


def test_two_models_are_compared_on_the_same_translation(two_models: Any, lab: Run) -> None:
    app = lab(section="comparison", sentence=SENTENCES[6])
    shown = picture(app)
    widths = [one["narrowest"] for one in picture(app, by="words")["fits"]]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] <= 390
    names = [trace["name"] for trace in orjson.loads(shown["template"])["data"] if trace["type"] == "heatmap"]
    assert names == ["first", "other", "difference"]
    assert len(shown["captions"]) == sum(len(word["steps"]) for word in mounted(app, "player")[0]["target"])
    assert "dotted" in shown["captions"]["1"][1]
    assert address(app) == {"section": "comparison", "sentence": SENTENCES[6]}
    before = shown["template"]
    assert picture(app, face="after")["template"] != before


def test_dropped_and_swapped_words_change_the_other_sentence_and_the_address(
    two_models: Any, lab: Run, snapshot: SnapshotAssertion
) -> None:
    app = lab(section="comparison", compare="sentence", sentence=SENTENCES[0])
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
