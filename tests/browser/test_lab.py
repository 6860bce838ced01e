"""Page *Lab*: shared state with the page *Translate*, sections, hover, clicks, keys, tables and downloads."""

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
from tests.browser.settled import wait_until_idle, wait_until_still
from tests.browser.test_page import NEW, expect_step, query, type_sentence
from tests.browser.views import on_a_telephone, on_both

pytestmark = pytest.mark.browser

ATTRIBUTIONS, PERTURBATION_TESTS = (
    ".st-key-attributions .js-plotly-plot .ytick",
    ".st-key-perturbation-tests .js-plotly-plot .xtick",
)
"""Selectors that match once the picture of a section is drawn."""
SENTENCE = "sentence=Two+dogs+play+in+the+snow."


def open_lab(open_page: Opener, query: str = "&section=attributions", ready: str = ATTRIBUTIONS) -> Page:
    """Open the lab as a link does."""
    page = open_page(f"?{SENTENCE}{query}", path="lab", ready=ready)
    wait_until_idle(page)
    return page


def wait_for_step(page: Page, number: int) -> None:
    """Wait until browser and server are at a step, counted from 1."""
    expect(page.locator(".player .target .current .chosen")).to_have_attribute("data-index", str(number - 1))
    expect(page.locator("[class*='st-key-room']").first).to_have_attribute("data-step", str(number - 1))


def to_page(page: Page, name: str) -> None:
    page.locator(".page-links").get_by_text(name, exact=True).click()


def to_section(page: Page, name: str) -> None:
    page.locator(".st-key-section").get_by_text(name, exact=True).click()


def chosen_section(page: Page) -> Locator:
    return page.locator(".st-key-section [aria-checked=true]")


def cell_position(page: Page, panel: int, row: int, column: int) -> dict[str, Any]:
    """Return the position in the window of a cell of an attribution panel."""
    chart = page.locator(".st-key-attributions .js-plotly-plot")
    found: dict[str, Any] = chart.evaluate(
        """async (chart, [panel, row, column]) => {
          const { xaxis, yaxis } = Object.values(chart.layout.meta.panels)[panel];
          const x = chart._fullLayout[`xaxis${xaxis.slice(1)}`], y = chart._fullLayout[`yaxis${yaxis.slice(1)}`];
          const at = { x: x._offset + x.c2p(column), y: y._offset + y.c2p(row) };
          window.document.querySelector(".stMain").scrollBy(0, chart.getBoundingClientRect().top + at.y - 400);
          // A chart that was out of sight is laid out in the next frame.
          for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
          const { left, top } = chart.getBoundingClientRect();
          return { x: left + at.x, y: top + at.y, ownX: at.x, ownY: at.y };
        }""",
        [panel, row, column],
    )
    return found


def assert_fits_the_window(page: Page) -> None:
    assert page.evaluate("document.querySelector('.stMain').scrollWidth <= innerWidth")


def test_lab_and_translate_pages_share_sentence_model_and_step(open_page: Opener) -> None:
    page = open_page("?model=small-dot&search=beam+3")
    type_sentence(page, NEW)
    expect(page.locator(".player .source")).to_contain_text("snow")
    page.locator(".st-key-by").get_by_text("words").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect_step(page, 3)
    for step in (3, 4):  # to and fro, and once more
        to_page(page, "Lab")
        page.wait_for_selector(PERTURBATION_TESTS)
        wait_until_idle(page)
        expect(page.locator(".player .source")).to_contain_text("snow")
        wait_for_step(page, step)
        shown = {"sentence": NEW, "model": "small-dot", "search": "beam 3", "by": "words", "step": str(step)}
        assert query(page) | shown == query(page)
        page.keyboard.press("ArrowRight")
        wait_for_step(page, step + 1)
        to_page(page, "Translate")
        page.wait_for_selector(READY)
        expect(page.locator(".st-key-sentence textarea")).to_have_value(NEW)
        expect(page.locator(".st-key-status")).to_contain_text("small-dot")
        expect_step(page, step + 1)
        assert query(page)["by"] == "words"


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720)])
def test_lab_opens_on_one_question_and_one_picture(open_page: Opener, width: int, height: int) -> None:
    page = open_page(f"?{SENTENCE}", path="lab", ready=PERTURBATION_TESTS, width=width, height=height)
    wait_until_idle(page)
    shown = page.locator(".st-key-perturbation-tests")
    expect(shown.locator("h3")).to_have_text(re.compile(r"“.+”.*\?$"))
    expect(page.locator(".js-plotly-plot:visible")).to_have_count(1)
    for part in ("h3", ".js-plotly-plot", "p"):
        box = shown.locator(part).bounding_box()
        assert box, part
        assert box["y"] + box["height"] <= height, part
        assert box["x"] + box["width"] <= width, part


@pytest.mark.nightly
def test_links_to_the_lab_and_back_keep_the_step_of_each_page_s_start(open_page: Opener) -> None:
    page = open_page()
    opened = int(str(page.locator(".st-key-room").get_attribute("data-step"))) + 1
    to_page(page, "Lab")
    page.wait_for_selector(".st-key-section")
    wait_for_step(page, opened)
    to_page(page, "Translate")
    page.wait_for_selector(READY)
    wait_for_step(page, opened)
    page.go_back()
    page.wait_for_selector(".st-key-section")
    wait_for_step(page, opened)
    page = open_page("?section=comparison", path="lab", ready=".st-key-comparison .js-plotly-plot .ytick")
    doubtful = int(str(page.locator(".st-key-room").get_attribute("data-step"))) + 1
    assert doubtful != opened, "both pages begin at the same step: nothing can jump"
    to_page(page, "Translate")
    page.wait_for_selector(READY)
    wait_for_step(page, doubtful)
    to_page(page, "Lab")
    page.wait_for_selector(".st-key-section")
    wait_for_step(page, doubtful)
    page.go_back()
    page.wait_for_selector(READY)
    wait_for_step(page, doubtful)


def test_lab_link_also_sets_the_translate_page(open_page: Opener) -> None:
    page = open_lab(open_page, "&step=2&section=perturbation-tests&model=small-dot&search=greedy", PERTURBATION_TESTS)
    wait_for_step(page, 2)
    to_page(page, "Translate")
    page.wait_for_selector(READY)
    expect(page.locator(".st-key-sentence textarea")).to_have_value("Two dogs play in the snow.")
    expect(page.locator(".st-key-status")).to_contain_text(re.compile("small-dot.*greedy"))
    expect_step(page, 2)


@pytest.mark.nightly
def test_back_and_forward_restore_page_and_step(open_page: Opener) -> None:
    page = open_page(f"?{SENTENCE}&step=3")
    to_page(page, "Lab")
    page.wait_for_selector(PERTURBATION_TESTS)
    wait_until_idle(page)
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 4)
    page.go_back()
    page.wait_for_selector(READY)
    expect_step(page, 3)
    page.go_forward()
    page.wait_for_selector(PERTURBATION_TESTS)
    wait_until_idle(page)
    wait_for_step(page, 4)


@pytest.mark.nightly
@on_a_telephone
def test_sections_and_languages_can_be_switched_repeatedly(open_page: Opener) -> None:
    page = open_lab(open_page)
    assert_fits_the_window(page)
    for _ in range(2):
        to_section(page, "Perturbation tests")
        page.wait_for_selector(PERTURBATION_TESTS)
        wait_until_idle(page)
        assert "section" not in query(page)
        assert_fits_the_window(page)
        page.locator(".st-key-lang").get_by_text("fr").click()
        expect(chosen_section(page)).to_have_text("Tests de perturbation")
        expect(page.locator(".st-key-perturbation-tests h3")).to_contain_text("poids d’attention")
        to_section(page, "Attributions")
        page.wait_for_selector(ATTRIBUTIONS)
        wait_until_idle(page)
        expect(page.locator(".st-key-attributions p")).to_contain_text("À cette étape")
        page.locator(".st-key-lang").get_by_text("en").click()
        expect(chosen_section(page)).to_have_text("Attributions")
        expect(page.locator(".st-key-attributions p")).to_contain_text("At this step")
        wait_until_idle(page)
        assert query(page)["section"] == "attributions"
    page.locator(".player .target .word").nth(3).click()
    text = page.locator(".st-key-attributions p").inner_text()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".st-key-attributions p")).not_to_have_text(text)
    page.keyboard.press("Home")
    wait_for_step(page, 1)
    page.keyboard.press("End")
    expect(page.locator(".player .target .current")).to_have_text("</s>")


@pytest.mark.nightly
@on_both
def test_hovered_cell_is_framed_in_every_panel_and_a_click_selects_it(open_page: Opener) -> None:
    page = open_lab(open_page, "&section=attributions")
    at = cell_position(page, 1, 2, 3)
    page.mouse.move(at["x"], at["y"])
    frames = page.locator(".st-key-attributions .cursor div")
    expect(frames).to_have_count(6)
    boxes = frames.evaluate_all(
        "(all) => all.map((one) => [one.offsetLeft, one.offsetTop, one.offsetWidth, one.offsetHeight])"
    )
    tooltip = str(page.locator(".st-key-attributions .hoverlayer").text_content())
    assert frames.nth(1).get_attribute("data-number")
    assert float(str(frames.nth(1).get_attribute("data-number"))) == pytest.approx(
        float(re.findall(r"-?[0-9]+\.[0-9]+", tooltip.replace("\u2212", "-"))[-1]), abs=0.0051
    )
    for panel, (left, top, width, height) in enumerate(boxes):
        own = cell_position(page, panel, 2, 3)
        assert left < own["ownX"] < left + width
        assert top < own["ownY"] < top + height
    at = cell_position(page, 1, 2, 3)
    page.mouse.click(at["x"], at["y"])
    wait_for_step(page, 3)
    expect(page.locator(".player .source .held .seen")).to_have_attribute("data-index", "3")
    shapes = page.locator(".st-key-attributions .js-plotly-plot").evaluate("(chart) => chart.layout.shapes.length")
    assert shapes == 12  # row and cell, six times
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".player .source .held")).to_have_count(1)


@pytest.mark.nightly
@on_both
def test_clicked_point_selects_its_step(open_page: Opener) -> None:
    page = open_lab(open_page, "&section=perturbation-tests", PERTURBATION_TESTS)
    page.locator(".st-key-all_steps button").click()
    for chart, mark in (("shuffled", ".point"), ("minimal-change", ".point")):
        for step in (4, 2):
            picture = page.locator(f".st-key-{chart} .js-plotly-plot")
            wait_until_still(picture)  # the text above it changes with the step
            box = picture.locator(mark).nth(step - 1).bounding_box()
            assert box
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            wait_for_step(page, step)
    ring = page.locator(".st-key-shuffled .js-plotly-plot").evaluate("(chart) => chart.layout.shapes[0].xanchor")
    points = page.locator(".st-key-shuffled .js-plotly-plot").evaluate("(chart) => chart.layout.meta.points")
    assert ring == points[1][0]


@pytest.mark.nightly
@on_both
def test_typed_word_shows_the_attention_that_favours_it(open_page: Opener) -> None:
    page = open_lab(open_page, "&section=perturbation-tests&step=2&search=greedy", PERTURBATION_TESTS)
    paragraph = page.locator(".st-key-perturbation-tests p")
    before = paragraph.inner_text()
    page.locator(".st-key-all_steps button").click()
    box = page.locator(".word-choice [data-what=word]")
    box.fill("neige")
    page.keyboard.press("Enter")
    expect(paragraph).not_to_have_text(before, timeout=60_000)  # the server tries a hundred attention distributions
    expect(paragraph).to_contain_text("“neige”")
    expect(paragraph).to_contain_text("“snow”")
    wait_until_idle(page)
    assert "word" in query(page)
    page.locator(".player .source .word").first.click()
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 3)
    expect(paragraph).not_to_contain_text("“neige”")


@pytest.mark.nightly
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["attributions", "perturbation-tests"])
def test_text_has_enough_contrast(open_page: Opener, name: str, dark: bool) -> None:
    ready = {"attributions": ATTRIBUTIONS, "perturbation-tests": PERTURBATION_TESTS}[name]
    page = open_page(f"?{SENTENCE}&section={name}&step=2", path="lab", ready=ready, dark=dark)
    wait_until_idle(page)
    assert faint(page, more_than=60) == []


@pytest.mark.nightly
@on_both
def test_lab_is_usable_by_keyboard(open_page: Opener) -> None:
    page = open_lab(open_page, "&section=attributions&step=1")
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 2)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate('document.activeElement.closest(".st-key-section") !== null'):
            break
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    page.wait_for_selector(PERTURBATION_TESTS)
    wait_until_idle(page)
    expect(chosen_section(page)).to_have_text("Perturbation tests")
    wait_for_step(page, 2)  # the focused control handled both keys
    page.locator(".player .transport .next").focus()
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 3)


@pytest.mark.nightly
@on_both
def test_tables_follow_the_step(open_page: Opener) -> None:
    page = open_lab(open_page, "&section=attributions&step=1")
    page.get_by_text("The charts as tables").click()
    expect(page.get_by_text("Attributions at step 1", exact=True)).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Attributions at step 2", exact=True)).to_be_visible()
    expect(page.locator(".tables table")).to_have_count(4)


@pytest.mark.nightly
@on_both
def test_charts_of_a_section_can_be_downloaded(open_page: Opener, tmp_path: Path) -> None:
    page = open_lab(open_page, "&section=perturbation-tests&step=2", PERTURBATION_TESTS)
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
def test_lab_explains_that_a_model_has_no_attention(open_page: Opener, snapshot: SnapshotAssertion) -> None:
    page = open_lab(open_page, "&model=small-fixed&step=1", ".player .target .word")
    for name in ("Perturbation tests", "Attributions"):
        to_section(page, name)
        expect(chosen_section(page)).to_have_text(name)
        wait_until_idle(page)
        assert page.locator(".text-block").last.inner_text() == snapshot(name=name)
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 2)
    assert_fits_the_window(page)
