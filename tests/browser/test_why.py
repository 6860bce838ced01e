"""Page *Why attention?*: translations that step together, charts, links, tables and downloads."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.why_attention import prefixes
from attnviz.evaluation.example_sentences import TABLE_3, TECHNOLOGY
from tests.browser.conftest import Opener
from tests.browser.contrast import faint
from tests.browser.server import READY
from tests.browser.settled import bring_into_sight, wait_until_idle
from tests.browser.test_page import NEW, expect_step, query, type_sentence
from tests.browser.texts import text_of
from tests.browser.views import on_both
from tests.snapshots import without_numbers

pytestmark = pytest.mark.browser

SECTIONS = ".st-key-section_gradients-why > summary"
"""A selector that matches once the page is drawn."""
GROWN = ".st-key-lanes-length .lane"
"""The rows of the growing sentence."""
GIVEN = "Le petit chat noir dort."
SENTENCE = "sentence=Two+dogs+play+in+the+snow."
BOXES = (
    "omissions-length",
    "section_lengths-why",
    "section_translations-why",
    "section_forced-why",
    "section_gradients-why",
    "signal_paths-why",
)
CHARTS = ("growth_chart-length", "forced_words-why", "signals-why", "by_length-why")


def open_why(open_page: Opener, query: str = "") -> Page:
    """Open the page as a link does, with the keyboard on the three translations."""
    page = open_page(f"?{SENTENCE}{query}", path="why", ready=SECTIONS)
    use_translations(page)
    return page


def use_translations(page: Page) -> None:
    """Open the three translations, and click there: until then, keys belong to the growing sentence."""
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
    open_box(page, "section_translations-why")
    lanes(page).locator(".name").first.click()


def open_box(page: Page, key: str) -> None:
    """Open a box by its label unless it is open."""
    label = page.locator(f".st-key-{key}:not([open]) > summary")
    if label.count():
        label.click()
    expect(page.locator(f".st-key-{key}")).to_have_attribute("open", "")


def lanes(page: Page, view: str = "why") -> Locator:
    return page.locator(f".st-key-lanes-{view} .lanes")


def wait_for_step(page: Page, step: int, view: str = "why") -> None:
    """Wait until the page is at a step, counted from 1."""
    expect(page.locator(f".st-key-room-{view}")).to_have_attribute("data-step", str(step - 1))
    expect(lanes(page, view).locator(".at")).to_have_value(str(step - 1))


MOVED = """(slider) => new Promise((go) => {
  const look = () => (Number(slider.value) > 0 ? go() : setTimeout(look, 20));
  look();
})"""
"""JavaScript that waits until a slider has moved from its start."""


def visible_text(lane: Locator) -> str:
    """Return the visible part of a translation."""
    return str(lane.locator(".part:not(.later)").evaluate_all("parts => parts.map(part => part.textContent).join('')"))


def assert_fits_the_window(page: Page) -> None:
    assert page.evaluate("document.querySelector('.stMain').scrollWidth <= innerWidth")


@on_both
def test_three_translations_step_together(open_page: Opener) -> None:
    page = open_why(open_page)
    three = lanes(page).locator(".lane")
    expect(three).to_have_count(3)
    assert_fits_the_window(page)
    first = [visible_text(three.nth(k)) for k in range(3)]
    strips = [three.nth(k).locator("canvas").evaluate("canvas => canvas.toDataURL()") for k in range(3)]
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 2)
    assert all(len(visible_text(three.nth(k))) > len(first[k]) for k in range(3))
    after = [three.nth(k).locator("canvas").evaluate("canvas => canvas.toDataURL()") for k in range(3)]
    assert after[0] == strips[0]  # one vector for all steps
    assert after[1] != strips[1]
    assert after[2] != strips[2]
    lanes(page).locator(".next").click()
    wait_for_step(page, 3)
    page.keyboard.press("End")
    assert "Deux chiens" in visible_text(three.nth(2))
    assert visible_text(three.nth(2)).endswith("</s>")
    slider = lanes(page).locator(".at")
    slider.focus()
    page.keyboard.press("Home")
    wait_for_step(page, 1)
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 2)
    assert query(page)["step-why"] == "2"


@on_both
def test_page_opens_short_and_closed_sections_fetch_nothing(open_page: Opener) -> None:
    page = open_page("", path="why", ready=f"{GROWN} .target")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_selector(SECTIONS)
    wide = page.viewport_size["width"] > 1000
    assert page.evaluate("document.querySelector('.stMain').scrollHeight") < (2350 if wide else 4450)
    expect(page.locator(".st-key-section_lengths-why")).to_have_js_property("open", wide)
    bring_into_sight(page.locator(SECTIONS))
    wait_until_idle(page)
    assert not [url for url in asked if "forced-words" in url or "gradient-share" in url or "signals" in url]
    section = page.get_by_role("heading", name="4. All three models")
    for is_open in (True, False, True):
        section.click()
        expect(page.locator(".st-key-section_forced-why")).to_have_js_property("open", is_open)
    chart = page.locator(".st-key-forced_words-why .chart")
    bring_into_sight(chart)
    expect(chart.locator(".main-svg").first).to_be_visible()
    assert chart.evaluate("chart => chart._fullLayout.width === chart.clientWidth")
    assert [url for url in asked if "forced-words" in url]


@pytest.mark.nightly
def test_word_bars_sum_to_one_and_the_layout_does_not_shift(open_page: Opener) -> None:
    page = open_why(open_page, "&step-why=2")
    wait_for_step(page, 2)
    additive = lanes(page).locator(".lane").nth(2)
    widths = additive.locator(".word").evaluate_all(
        "words => words.map(word => Number(getComputedStyle(word).getPropertyValue('--bar')))"
    )
    assert sum(widths) == pytest.approx(1, abs=0.02)
    top = lanes(page).locator(".transport").bounding_box()
    page.keyboard.press("End")
    expect(lanes(page).locator(".at")).not_to_have_value("1")
    assert lanes(page).locator(".transport").bounding_box() == top


@pytest.mark.nightly
def test_playback_stops_at_the_last_step(open_page: Opener) -> None:
    page = open_why(open_page)
    last = int(lanes(page).locator(".at").get_attribute("max") or 0)
    page.keyboard.press("Space")
    expect(lanes(page).locator(".verb")).to_have_text("Pause")
    lanes(page).locator(".at").evaluate(MOVED)  # wait in the browser: from Python, a step may end before it is seen
    page.keyboard.press("Space")
    expect(lanes(page).locator(".verb")).to_have_text("Play")
    lanes(page).locator(".at").fill(str(last - 1))
    lanes(page).locator(".play").click()
    wait_for_step(page, last + 1)
    expect(lanes(page).locator(".verb")).to_have_text("Play")


@pytest.mark.nightly
@on_both
def test_every_chart_is_drawn_and_described(open_page: Opener) -> None:
    page = open_why(open_page)
    for key in BOXES:
        open_box(page, key)
    for name in CHARTS:
        chart = page.locator(f".st-key-{name} .chart")
        bring_into_sight(chart)
        expect(page.locator(f".st-key-{name} .js-plotly-plot .main-svg").first).to_be_visible()
        assert len(chart.get_attribute("aria-label") or "") > 40
        expect(page.locator(f".st-key-{name} .chart-box p")).not_to_be_empty()
    wait_until_idle(page)
    assert_fits_the_window(page)
    expect(page.locator(".st-key-by_length-why")).to_contain_text("your sentence: 6 words")
    assert faint(page, more_than=30) == []


@on_both
def test_page_opens_on_the_whole_sentence_and_shortens_it(open_page: Opener) -> None:
    page = open_page("", path="why", ready=f"{GROWN} .target")
    rows = lanes(page, "length")
    expect(rows.locator(".lane")).to_have_count(4)
    slider, fixed = rows.locator(".at"), rows.locator(".lane").first
    last = int(slider.get_attribute("max") or 0)
    wait_for_step(page, last + 1, "length")
    expect(rows.locator(".where")).to_have_text("42 of 42 words")
    expect(fixed.locator(".source .text")).to_contain_text("protection of personal data.")
    assert fixed.locator("s").count() > 2 * rows.locator(".lane").nth(2).locator("s").count()
    expect(rows.locator(".lane .target .text").last).to_contain_text("Les technologies ont transformé")
    assert_fits_the_window(page)
    wait_until_idle(page)
    height, asked = rows.bounding_box()["height"], []
    page.on("request", lambda request: asked.append(request.url))
    slider.focus()
    page.keyboard.press("ArrowLeft")
    wait_for_step(page, last, "length")
    expect(rows.locator(".where")).to_have_text("41 of 42 words")
    page.keyboard.press("Home")
    expect(fixed.locator(".source .text")).to_have_text(prefixes(TECHNOLOGY)[0])
    expect(rows.locator(".lane .target .text").last).to_be_empty()
    assert rows.bounding_box()["height"] == height  # nothing below moves
    assert asked == []
    assert query(page)["step-length"] == "1"
    page.keyboard.press("End")
    expect(fixed.locator(".source .text")).to_contain_text("protection of personal data.")
    assert "step-length" not in query(page)
    assert faint(page, more_than=30) == []


@pytest.mark.nightly
@on_both
def test_growing_sentence_has_its_own_steps_and_a_clickable_chart(open_page: Opener) -> None:
    page = open_why(open_page, "&long=2&step-length=2")
    rows = lanes(page, "length")
    bring_into_sight(rows)
    expect(rows.locator(".lane")).to_have_count(3)
    wait_until_idle(page)
    expect(rows.locator(".source .text").first).to_have_text(prefixes(TABLE_3[1])[1])
    rows.locator(".next").click()
    wait_for_step(page, 3, "length")
    wait_for_step(page, 1)  # the other stays where it is
    page.keyboard.press("ArrowRight")  # belongs to the view that was touched last
    wait_for_step(page, 4, "length")
    assert query(page) | {"long": "2", "step-length": "4"} == query(page)
    open_box(page, "omissions-length")
    chart = page.locator(".st-key-growth_chart-length .chart")
    bring_into_sight(chart)
    expect(chart.locator(".main-svg").first).to_be_visible()
    place = chart.evaluate(
        """chart => {
          const { xaxis, yaxis } = chart._fullLayout, [line] = chart._fullData;
          const { left, top } = chart.getBoundingClientRect();
          return [left + xaxis._offset + xaxis.c2p(line.x[0]), top + yaxis._offset + yaxis.c2p(line.y[0])];
        }"""
    )
    page.mouse.click(*place)
    wait_for_step(page, 1, "length")
    page.locator(".st-key-long").get_by_text("In a press").click()
    expect(rows.locator(".source .text").first).to_contain_text("In a press conference", timeout=60_000)
    wait_for_step(page, int(rows.locator(".at").get_attribute("max") or 0) + 1, "length")
    assert query(page)["long"] == "3"


@pytest.mark.nightly
def test_sentence_and_steps_survive_page_changes(open_page: Opener) -> None:
    page = open_page()
    type_sentence(page, NEW)
    expect(page.locator(".player .source")).to_contain_text("snow")
    page.keyboard.press("ArrowRight")
    expect_step(page, 2)
    for step in (2, 3):
        page.locator(".page-links").get_by_text("Why attention?").click()
        page.wait_for_selector(SECTIONS)
        use_translations(page)
        expect(lanes(page).locator(".source").first).to_contain_text("snow")
        page.keyboard.press("ArrowRight")
        wait_for_step(page, step)
        assert query(page) | {"sentence": NEW, "step-why": str(step)} == query(page)
        page.locator(".page-links").get_by_text("Translate").click()
        page.wait_for_selector(READY)
        expect(page.locator(".st-key-sentence textarea")).to_have_value(NEW)
        expect_step(page, 2)
        assert "step-why" not in query(page)


@pytest.mark.nightly
def test_back_and_forward_restore_page_and_step(open_page: Opener) -> None:
    page = open_page(f"?{SENTENCE}&step=3")
    page.locator(".page-links").get_by_text("Why attention?").click()
    page.wait_for_selector(SECTIONS)
    use_translations(page)
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 2)
    page.go_back()
    page.wait_for_selector(READY)
    expect_step(page, 3)
    page.go_forward()
    page.wait_for_selector(SECTIONS)
    wait_for_step(page, 2)


@pytest.mark.nightly
def test_new_sentence_and_given_translation_are_shown(open_page: Opener, snapshot: SnapshotAssertion) -> None:
    page = open_why(open_page, "&step-why=3")
    box = page.locator(".st-key-sentence textarea")
    box.fill("The little black cat sleeps.")
    box.press("Control+Enter")
    expect(lanes(page).locator(".source").first).to_contain_text("cat")
    wait_for_step(page, 1)
    page.locator(".st-key-own button").click()
    target = page.locator(".st-key-target textarea")
    target.fill(GIVEN)
    target.press("Control+Enter")
    expect(page.locator(".text-section .french")).to_have_text(GIVEN)
    page.wait_for_function("(given) => new URLSearchParams(location.search).get('target') === given", arg=GIVEN)
    wait_until_idle(page)
    open_box(page, "section_forced-why")
    section = page.locator(".st-key-section_forced-why .text-section")
    assert without_numbers(text_of(section)) == snapshot


@pytest.mark.nightly
def test_language_can_be_switched_repeatedly(open_page: Opener) -> None:
    page = open_why(open_page)
    for code, name in (("fr", "Un vecteur fixe"), ("en", "One fixed vector"), ("fr", "Un vecteur fixe")):
        page.locator(".st-key-lang").get_by_text(code).click()
        expect(lanes(page).locator(".name").first).to_contain_text(name)
    open_box(page, "section_gradients-why")
    bring_into_sight(page.locator(".st-key-gradient_share-why"))
    expect(page.locator(".st-key-gradient_share-why h3")).to_contain_text("Part du gradient")


@pytest.mark.nightly
def test_tables_and_downloads_are_available(open_page: Opener) -> None:
    page = open_why(open_page)
    page.locator(".st-key-tables-why summary").click()
    expect(page.locator(".st-key-tables-why").locator("table")).to_have_count(7)
    page.locator(".st-key-downloads button").first.click()
    files = page.locator(".st-key-export")
    expect(files.get_by_text("PNG").nth(1)).to_be_visible()
    with page.expect_download() as saved:
        files.get_by_text("PNG").nth(1).click()
    assert saved.value.suggested_filename.endswith("bleu-by-length.png")
