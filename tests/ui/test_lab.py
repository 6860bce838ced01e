"""Lab page as Streamlit runs it, without a browser: its sections, payloads, links and messages."""

from __future__ import annotations

import html
import shutil
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace
from attnviz.analysis.findings import Finding, FindingKind
from attnviz.analysis.perturbation_tests import PERTURBATION_REFERENCES, PerturbationTests
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.suspected_errors import SuspectedError
from attnviz.checkpoint import save_model
from attnviz.languages import set_language
from attnviz.text import Tokenizer
from attnviz.trace.interventions import ExcludePosition
from attnviz.translator import Translator
from attnviz.ui import resources
from attnviz.ui.examples import DEFAULT_SENTENCE
from attnviz.ui.lab import cached_analyses
from attnviz.ui.pages import lab_page as lab_script
from attnviz.ui.pages.lab_page import SECTIONS
from attnviz.ui.payloads import UnknownPayloadError
from attnviz.ui.payloads import address as address_of
from attnviz.ui.view import MAIN, View
from tests.conftest import REPOSITORY, ModelFactory
from tests.ui.fields import field, set_field
from tests.ui.opening import Run
from tests.ui.shown_payloads import address, fetched, mounted, page_html, panel_texts, payloads_of, selected, texts

ANALYSIS_PAYLOADS = (
    "attributions-words",
    "attributions-words-narrow",
    "attributions-steps",
    "perturbation-tests",
    "shuffled",
    "minimal-change",
)
"""Payloads of the attributions, the perturbation tests and the minimal change."""


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


def test_lab_opens_at_the_least_likely_content_word_where_nothing_is_wrong(
    lab: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(REPOSITORY / "models"))
    app = lab()
    assert not app.exception
    step, (chart,) = selected(app).step, mounted(app, "chart")
    question, sentence = fetched(chart["at"].replace("{size}", "").replace("{word}", ""), step)["captions"][str(step)]
    assert "“vieille”" in question
    assert "→" in sentence


@pytest.mark.parametrize("section", SECTIONS)
def test_link_opens_a_section_and_the_address_has_it(lab: Run, section: str) -> None:
    app = lab(section=section, sentence="Two dogs play in the snow.")
    assert not app.exception
    (player,) = mounted(app, "player")
    assert [word["text"] for word in player["source"][:2]] == ["Two", "dogs"]
    opened = {"sentence": "Two dogs play in the snow."}
    assert {name: value for name, value in address(app).items() if name != "page"} == (
        opened if section == next(iter(SECTIONS)) else opened | {"section": section}
    )


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
        "perturbation-tests{size}",
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


@pytest.mark.parametrize("section", ["attributions", "perturbation-tests"])
def test_section_reports_a_model_without_attention(
    models_folder: Path,
    lab: Run,
    make_network: ModelFactory,
    tokenizer: Tokenizer,
    section: str,
    snapshot: SnapshotAssertion,
) -> None:
    save_model(models_folder / "plain", make_network("none"), tokenizer)
    app = lab(section=section, model="plain")
    assert not app.exception
    assert panel_texts(app, "section_panel") == snapshot


def test_lab_reports_that_no_model_is_installed(
    tmp_path_factory: pytest.TempPathFactory, lab: Run, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path_factory.mktemp("none")))
    app = lab()
    assert not app.exception
    assert panel_texts(app, "messages") == snapshot


def test_empty_sentence_is_reported_and_the_example_shown(lab: Run, snapshot: SnapshotAssertion) -> None:
    app = lab(sentence=" ")
    assert panel_texts(app, "messages") == snapshot
    assert len(mounted(app, "player")) == 1


def test_unknown_section_is_reported_and_the_first_drawn(lab: Run, snapshot: SnapshotAssertion) -> None:
    app = lab(section="beans")
    assert not app.exception
    assert mounted(app, "link_messages")[0]["problems"] == snapshot
    assert field(app, "section")["value"] == next(iter(SECTIONS))


def test_invalid_link_values_are_reported_in_the_lab(lab: Run, snapshot: SnapshotAssertion) -> None:
    app = lab(section="neighbours", near="by", by="letters")
    assert mounted(app, "link_messages")[0]["problems"] == snapshot


def test_lab_shows_the_linked_sentence_and_ignores_bad_values(lab: Run) -> None:
    app = lab(sentence="Two dogs play.", model="nothing", search="nonsense", by="nothing")
    assert not app.exception
    assert mounted(app, "player")[0]["source"][0]["text"] == "Two"
    assert "beam search, width 5" in texts(app)


@pytest.fixture
def trace(en_fr: Path) -> Trace:
    """Return a registered translation whose model is installed."""
    return resources.translate(str(en_fr), "cpu", "Two dogs play in the snow.", 1, None)


@pytest.mark.parametrize("name", ANALYSIS_PAYLOADS)
def test_payloads_depend_on_step_theme_and_language(trace: Trace, name: str) -> None:
    light, dark = (fetched(address_of(trace, name, theme, every=False), 1) for theme in ("light", "dark"))
    assert light["template"] != dark["template"]
    assert list(light["captions"]) == ["1"]
    set_language("fr")
    french = fetched(address_of(trace, name, "light", every=False), 1)
    assert french["captions"] != light["captions"]


def test_perturbation_tests_use_the_word_in_the_address(trace: Trace) -> None:
    at = address_of(trace, "perturbation-tests", "light", every=False, word=True)
    other = next(int(piece) for piece in trace.top_ids[1] if piece != trace.target_ids[1])
    own, another = (fetched(at.replace("{word}", word), 1)["captions"]["1"][1] for word in ("", str(other)))
    assert own != another
    with pytest.raises(UnknownPayloadError):
        fetched(address_of(trace, "perturbation-tests", "light", every=True))


def test_perturbation_tests_are_computed_once_for_all_themes_and_widths(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, perturbation_tests = [], cached_analyses.perturbation_tests

    def counted(trace: Trace, step: int, weights: Weights) -> PerturbationTests:
        steps.append(step)
        return perturbation_tests(trace, step, weights)

    monkeypatch.setattr(cached_analyses, "perturbation_tests", counted)
    for theme in ("light", "dark"):
        for name in ("perturbation-tests", "perturbation-tests-narrow"):
            fetched(address_of(trace, name, theme, every=False), 3)
    assert steps == [3]


def test_what_if_has_its_own_attributions(en_fr: Path, trace: Trace) -> None:
    translator = Translator.load(en_fr, device="cpu")
    changed = translator.translate(
        trace.source_text, target=trace.translation, interventions=[ExcludePosition(1, step=0)]
    )
    one, other = (fetched(address_of(given, "attributions-steps", "light", every=True)) for given in (trace, changed))
    assert one["template"] != other["template"]


SECTIONS_WITHOUT_CHOICE = [name for name in SECTIONS if name != "comparison"]
"""Sections that draw without a choice by the visitor; *comparison* has its own test module."""


@pytest.mark.parametrize("section", SECTIONS_WITHOUT_CHOICE)
def test_every_figure_of_a_section_has_a_name_heading_and_numbers(trace: Trace, section: str) -> None:
    view, session = View(MAIN, trace), {}
    pictures = list(SECTIONS[section].pictures(view, session))
    assert pictures
    assert len({one.name for one in pictures}) == len(pictures)
    assert all(len(one.draw().frame()) and one.draw().data and one.heading for one in pictures)
    if tabulate := SECTIONS[section].tables:
        assert all(len(table) for _, table in tabulate(view, session))


def test_payloads_and_figures_are_unavailable_without_the_model(trace: Trace, en_fr: Path) -> None:
    shutil.rmtree(en_fr)
    for name in ANALYSIS_PAYLOADS:
        with pytest.raises(UnknownPayloadError):
            fetched(address_of(trace, name, "light", every=False), 0)
    for section in (SECTIONS[name] for name in SECTIONS_WITHOUT_CHOICE):
        assert list(section.pictures(View(MAIN, trace), {})) == []
        assert section.tables is None or list(section.tables(View(MAIN, trace), {})) == []
