"""The page *Lab* in Chromium: what was on show stays there, and what is pointed at, clicked or pressed is followed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from syrupy.assertion import SnapshotAssertion

from tests.browser.conftest import Opener
from tests.browser.contrast import faint
from tests.browser.server import READY
from tests.browser.test_page import NEW, expect_step, query, type_sentence
from tests.browser.views import on_a_telephone, on_both

pytestmark = pytest.mark.browser

ATTRIBUTIONS, PERTURBATION_TESTS = (
    ".st-key-attributions .js-plotly-plot .ytick",
    ".st-key-perturbation-tests .js-plotly-plot .xtick",
)
"""Selectors that match once the picture of a section is drawn."""
SENTENCE = "sentence=Two+dogs+play+in+the+snow."


def at_rest(page: Page) -> None:
    """Wait until nothing waits for its numbers and the server has nothing more to say."""
    page.wait_for_selector("[data-waiting]", state="detached")
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')


def lab(open_page: Opener, query: str = "", ready: str = ATTRIBUTIONS) -> Page:
    """Open the lab as a link does."""
    page = open_page(f"?{SENTENCE}{query}", path="lab", ready=ready)
    at_rest(page)
    return page


def at_step(page: Page, number: int) -> None:
    """Wait until browser and server are at a step, counted from 1."""
    expect(page.locator(".player .target .current .chosen")).to_have_attribute("data-index", str(number - 1))
    expect(page.locator("[class*='st-key-room']").first).to_have_attribute("data-step", str(number - 1))


def to_page(page: Page, name: str) -> None:
    page.locator(".page-links").get_by_text(name, exact=True).click()


def to_section(page: Page, name: str) -> None:
    page.locator(".st-key-section").get_by_text(name, exact=True).click()


def section(page: Page) -> Locator:
    return page.locator(".st-key-section [aria-checked=true]")


def place(page: Page, panel: int, row: int, column: int) -> dict[str, Any]:
    """Return where in the window a cell of a panel of the answers is."""
    chart = page.locator(".st-key-attributions .js-plotly-plot")
    found: dict[str, Any] = chart.evaluate(
        """(chart, [panel, row, column]) => {
          const { xaxis, yaxis } = Object.values(chart.layout.meta.panels)[panel];
          const x = chart._fullLayout[`xaxis${xaxis.slice(1)}`], y = chart._fullLayout[`yaxis${yaxis.slice(1)}`];
          const at = { x: x._offset + x.c2p(column), y: y._offset + y.c2p(row) };
          window.document.querySelector(".stMain").scrollBy(0, chart.getBoundingClientRect().top + at.y - 400);
          const { left, top } = chart.getBoundingClientRect();
          return { x: left + at.x, y: top + at.y, ownX: at.x, ownY: at.y };
        }""",
        [panel, row, column],
    )
    return found


def no_wider_than_the_window(page: Page) -> None:
    assert page.evaluate("document.querySelector('.stMain').scrollWidth <= innerWidth")


def test_the_lab_opens_with_what_is_on_show_and_leads_back(open_page: Opener) -> None:
    page = open_page("?model=small-dot&search=beam+3")
    type_sentence(page, NEW)
    expect(page.locator(".player .source")).to_contain_text("snow")
    page.locator(".st-key-by").get_by_text("pieces").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect_step(page, 3)
    for step in (3, 4):  # to and fro, and once more
        to_page(page, "Lab")
        page.wait_for_selector(ATTRIBUTIONS)
        at_rest(page)
        expect(page.locator(".player .source")).to_contain_text("snow")
        at_step(page, step)
        shown = {"sentence": [NEW], "model": ["small-dot"], "search": ["beam 3"], "by": ["pieces"], "step": [str(step)]}
        assert query(page) | shown == query(page)
        page.keyboard.press("ArrowRight")
        at_step(page, step + 1)
        to_page(page, "Translate")
        page.wait_for_selector(READY)
        expect(page.locator(".st-key-sentence textarea")).to_have_value(NEW)
        expect(page.locator(".st-key-status")).to_contain_text("small-dot")
        expect_step(page, step + 1)
        assert query(page)["by"] == ["pieces"]


@pytest.mark.nightly
def test_a_link_opens_the_lab_and_then_the_first_page_shows_the_same(open_page: Opener) -> None:
    page = lab(open_page, "&step=2&section=perturbation-tests&model=small-dot&search=greedy", PERTURBATION_TESTS)
    at_step(page, 2)
    to_page(page, "Translate")
    page.wait_for_selector(READY)
    expect(page.locator(".st-key-sentence textarea")).to_have_value("Two dogs play in the snow.")
    expect(page.locator(".st-key-status")).to_contain_text(re.compile("small-dot.*greedy"))
    expect_step(page, 2)


@pytest.mark.nightly
def test_back_leads_to_the_page_and_the_section_before(open_page: Opener) -> None:
    page = open_page(f"?{SENTENCE}&step=3")
    to_page(page, "Lab")
    page.wait_for_selector(ATTRIBUTIONS)
    at_rest(page)
    page.keyboard.press("ArrowRight")
    at_step(page, 4)
    page.go_back()
    page.wait_for_selector(READY)
    expect_step(page, 3)
    page.go_forward()
    page.wait_for_selector(ATTRIBUTIONS)
    at_rest(page)
    at_step(page, 4)


@on_a_telephone
def test_sections_languages_and_steps_to_and_fro(open_page: Opener) -> None:
    page = lab(open_page)
    no_wider_than_the_window(page)
    for _ in range(2):
        to_section(page, "Perturbation tests")
        page.wait_for_selector(PERTURBATION_TESTS)
        at_rest(page)
        assert query(page)["section"] == ["perturbation-tests"]
        no_wider_than_the_window(page)
        page.locator(".st-key-lang").get_by_text("fr").click()
        expect(section(page)).to_have_text("Tests de perturbation")
        expect(page.locator(".st-key-perturbation-tests p")).to_contain_text("mélang")
        to_section(page, "Attributions")
        page.wait_for_selector(ATTRIBUTIONS)
        at_rest(page)
        expect(page.locator(".st-key-attributions p")).to_contain_text("À cette étape")
        page.locator(".st-key-lang").get_by_text("en").click()
        expect(section(page)).to_have_text("Attributions")
        expect(page.locator(".st-key-attributions p")).to_contain_text("At this step")
        at_rest(page)
        assert "section" not in query(page)
    page.locator(".player .target .word").nth(3).click()
    told = page.locator(".st-key-attributions p").inner_text()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".st-key-attributions p")).not_to_have_text(told)
    page.keyboard.press("Home")
    at_step(page, 1)
    page.keyboard.press("End")
    expect(page.locator(".player .target .current")).to_have_text("</s>")


@pytest.mark.nightly
@on_both
def test_a_cell_that_is_pointed_at_is_framed_in_every_panel_and_a_click_goes_there(open_page: Opener) -> None:
    page = lab(open_page, "&by=pieces")
    at = place(page, 1, 2, 3)
    page.mouse.move(at["x"], at["y"])
    frames = page.locator(".st-key-attributions .cursor div")
    expect(frames).to_have_count(6)
    boxes = frames.evaluate_all(
        "(all) => all.map((one) => [one.offsetLeft, one.offsetTop, one.offsetWidth, one.offsetHeight])"
    )
    told = str(page.locator(".st-key-attributions .hoverlayer").text_content())
    assert frames.nth(1).get_attribute("data-number")
    assert float(str(frames.nth(1).get_attribute("data-number"))) == pytest.approx(
        float(re.findall(r"-?[0-9]+\.[0-9]+", told.replace("\u2212", "-"))[-1]), abs=0.0051
    )
    for panel, (left, top, width, height) in enumerate(boxes):
        own = place(page, panel, 2, 3)
        assert left < own["ownX"] < left + width
        assert top < own["ownY"] < top + height
    at = place(page, 1, 2, 3)
    page.mouse.click(at["x"], at["y"])
    at_step(page, 3)
    expect(page.locator(".player .source .held .seen")).to_have_attribute("data-index", "3")
    shapes = page.locator(".st-key-attributions .js-plotly-plot").evaluate("(chart) => chart.layout.shapes.length")
    assert shapes == 12  # row and cell, six times
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".player .source .held")).to_have_count(1)


@pytest.mark.nightly
@on_both
def test_points_and_bars_lead_to_their_steps(open_page: Opener) -> None:
    page = lab(open_page, "&section=perturbation-tests", PERTURBATION_TESTS)
    for chart, mark in (("shuffled", ".point"), ("minimal-change", ".point")):
        for step in (4, 2):
            picture = page.locator(f".st-key-{chart} .js-plotly-plot")
            picture.scroll_into_view_if_needed()
            box = picture.locator(mark).nth(step - 1).bounding_box()
            assert box
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            at_step(page, step)
    ring = page.locator(".st-key-shuffled .js-plotly-plot").evaluate("(chart) => chart.layout.shapes[0].xanchor")
    points = page.locator(".st-key-shuffled .js-plotly-plot").evaluate("(chart) => chart.layout.meta.points")
    assert ring == points[1][0]


@pytest.mark.nightly
@on_both
def test_where_it_should_have_looked_for_a_word_of_the_visitors(open_page: Opener) -> None:
    page = lab(open_page, "&section=perturbation-tests&step=2&search=greedy", PERTURBATION_TESTS)
    told = page.locator(".st-key-perturbation-tests p")
    before = told.inner_text()
    box = page.locator(".word-choice [data-what=word]")
    box.fill("neige")
    page.keyboard.press("Enter")
    expect(told).not_to_have_text(before, timeout=60_000)  # the server tries a hundred looks
    expect(told).to_contain_text("“neige” is likeliest")
    expect(told).to_contain_text("“snow”")
    at_rest(page)
    assert "word" in query(page)
    page.locator(".player .source .word").first.click()
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    at_step(page, 3)
    expect(told).not_to_contain_text("neige” is likeliest")


@pytest.mark.nightly
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["attributions", "perturbation-tests"])
def test_all_text_stands_out(open_page: Opener, name: str, dark: bool) -> None:
    ready = {"attributions": ATTRIBUTIONS, "perturbation-tests": PERTURBATION_TESTS}[name]
    page = open_page(f"?{SENTENCE}&section={name}&step=2", path="lab", ready=ready, dark=dark)
    at_rest(page)
    assert faint(page, more_than=60) == []


@pytest.mark.nightly
@on_both
def test_by_the_keyboard_alone(open_page: Opener) -> None:
    page = lab(open_page)
    page.keyboard.press("ArrowRight")
    at_step(page, 2)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate('document.activeElement.closest(".st-key-section") !== null'):
            break
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.wait_for_selector(PERTURBATION_TESTS)
    at_rest(page)
    expect(section(page)).to_have_text("Perturbation tests")
    at_step(page, 2)  # both keys were the control's
    page.locator(".player .skip").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    at_step(page, 3)


@pytest.mark.nightly
@on_both
def test_the_tables_follow_the_step(open_page: Opener) -> None:
    page = lab(open_page)
    page.get_by_text("The charts as tables").click()
    expect(page.get_by_text("Answers at step 1")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Answers at step 2")).to_be_visible()
    expect(page.locator(".tables table")).to_have_count(4)


@pytest.mark.nightly
@on_both
def test_the_pictures_of_a_section_are_saved(open_page: Opener, tmp_path: Path) -> None:
    page = lab(open_page, "&section=perturbation-tests&step=2", PERTURBATION_TESTS)
    page.get_by_role("button", name="Download").click()
    rows = page.locator(".st-key-export .picture")
    expect(rows).to_have_count(3)
    for form in ("PNG", "SVG", "CSV"):
        with page.expect_download() as saved:
            rows.first.get_by_text(form, exact=True).click()
        path = tmp_path / saved.value.suggested_filename
        saved.value.save_as(path)
        assert path.name == f"attnviz-two-dogs-play-in-step-2-perturbation-tests.{form.lower()}"
        assert path.stat().st_size > 1000


@pytest.mark.nightly
@on_both
def test_a_model_without_attention_has_nothing_to_choose_from(open_page: Opener, snapshot: SnapshotAssertion) -> None:
    page = lab(open_page, "&model=small-fixed", ".player .target .word")
    for name in ("Perturbation tests", "Attributions"):
        to_section(page, name)
        expect(section(page)).to_have_text(name)
        at_rest(page)
        assert page.get_by_test_id("stText").last.inner_text() == snapshot(name=name)
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
    page.keyboard.press("ArrowRight")
    at_step(page, 2)
    no_wider_than_the_window(page)
