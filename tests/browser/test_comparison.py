"""Lab section *Side by side*: two translations compared in heatmap panels.

The panels share one player and one cursor. Words are dropped and swapped by mouse and by keyboard.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect
from syrupy.assertion import SnapshotAssertion

from tests.browser.conftest import Opener
from tests.browser.server import READY
from tests.browser.settled import WAIT_UNTIL_STILL, wait_until_idle
from tests.browser.texts import text_of
from tests.browser.views import NARROW, WIDE_DARK, address_with, on_both, parameters_of, within
from tests.what_if_links import link, only

pytestmark = pytest.mark.browser

SENTENCE, SHORTER = "A girl is riding a red bicycle.", "A girl is riding a bicycle."
CHART = ".st-key-comparison .js-plotly-plot"


def to_section(page: Page, address: str, **query: str) -> Page:
    """Open the section with a link at the first step, and wait until it is drawn."""
    linked = {"page": "lab", "section": "comparison", "sentence": SENTENCE, "depth": "everything", "step": "1"} | query
    page.goto(f"{address}/{address_with(urlencode(linked))}")
    wait_until_drawn(page)
    return page


def wait_until_drawn(page: Page) -> None:
    page.wait_for_selector(f"{CHART} .ytick")
    wait_until_idle(page)


def query_parameters(page: Page) -> dict[str, str]:
    return parameters_of(page.url)


def meta(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.locator(CHART).evaluate("(chart) => chart.layout.meta")
    return found


def framed_rows(page: Page) -> set[float]:
    """Return the rows that are framed, in any panel."""
    rows: list[float] = page.locator(CHART).evaluate(
        "(chart) => chart.layout.shapes.filter(({ line }) => line.color === chart.layout.meta.frame)"
        ".map(({ y0 }) => y0 + 0.5)"
    )
    return set(rows)


def cell(page: Page, panel: str, row: int, column: int) -> tuple[float, float]:
    """Return the middle of a cell of a panel on the screen, which it scrolls into the window."""
    chart = page.locator(CHART)
    place = """(chart, [panel, row, column]) => {
      const { xaxis, yaxis } = chart.layout.meta.panels[panel];
      const [x, y] = [xaxis, yaxis].map((id) => chart._fullLayout[`${id[0]}axis${id.slice(1)}`]);
      const box = chart.getBoundingClientRect();
      return [box.x + x._offset + x.c2p(column), box.y + y._offset + y.c2p(row)];
    }"""
    _, below = chart.evaluate(place, [panel, row, column])
    page.locator(".stMain").evaluate("(main, below) => main.scrollBy(0, below - innerHeight / 2)", below)
    chart.evaluate(WAIT_UNTIL_STILL)
    x, y = chart.evaluate(place, [panel, row, column])
    return float(x), float(y)


def expect_step(page: Page, step: int, row: int) -> None:
    """Wait until player, picture and server are at 0-based `step`, which is in `row`."""
    expect(page.locator("[class*='st-key-room']").first).to_have_attribute("data-step", str(step))
    expect(page.locator(".player .target .current .chosen")).to_have_attribute("data-index", str(step))
    page.wait_for_function(
        "([chart, row]) => document.querySelector(chart).layout.shapes.some(({ line, y0 }) => "
        "line.color === document.querySelector(chart).layout.meta.frame && y0 + 0.5 === row)",
        arg=[CHART, row],
    )
    assert framed_rows(page) == {row}


@pytest.mark.nightly
@on_both
def test_panels_fit_the_window_in_a_row_or_a_column(open_page: Opener, address: str) -> None:
    page = to_section(open_page(), address)
    narrow = (page.viewport_size or {})["width"] < 640
    lefts = {
        round(float(page.locator(CHART).evaluate("(chart, axis) => chart._fullLayout[axis]._offset", axis)))
        for axis in ("xaxis", "xaxis2", "xaxis3", "xaxis4")
    }
    assert len(lefts) == (1 if narrow else 4)
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth")
    expect(page.get_by_role("img", name=re.compile("as heatmaps of 8 target words and 9 source words"))).to_be_visible()


@pytest.mark.nightly
def test_panels_are_laid_out_again_when_the_window_is_resized(open_page: Opener, address: str) -> None:
    page = to_section(open_page(), address)
    for width, columns in ((1440, 4), (900, 2), (390, 1), (1440, 4)):
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_function(
            "([chart, columns]) => new Set(['xaxis', 'xaxis2', 'xaxis3', 'xaxis4'].map((axis) => "
            "Math.round(document.querySelector(chart)._fullLayout[axis]._offset))).size === columns",
            arg=[CHART, columns],
        )


@on_both
def test_one_player_moves_both_translations(open_page: Opener, address: str) -> None:
    page = to_section(open_page(), address)
    expect_step(page, 0, 0)
    page.keyboard.press("ArrowRight")
    expect_step(page, 1, 1)
    expect(page.locator(".st-key-comparison .chart-box > p")).to_contain_text("“fille”: step 2 in both translations.")
    page.locator(".player .next").last.click()
    expect_step(page, 2, 2)
    page.mouse.click(*cell(page, "other", 4, 6))
    expect_step(page, 4, 4)
    page.wait_for_url(re.compile("step=5"))
    assert query_parameters(page)["source"] == "7"
    page.keyboard.press("End")
    expect_step(page, 7, 7)
    page.reload()
    wait_until_drawn(page)
    expect_step(page, 7, 7)


@pytest.mark.nightly
def test_hovered_cell_is_framed_in_all_panels(open_page: Opener, address: str) -> None:
    page = to_section(open_page(), address)
    page.mouse.move(*cell(page, "difference", 4, 6))
    expect(page.locator(".st-key-comparison .cursor div")).to_have_count(4)
    tooltip = page.locator(f"{CHART} .hovertext").text_content() or ""
    for part in ("vélo ← bicycle", "en-fr: α = ", "small-additive: α = ", "Difference: "):
        assert part in tooltip
    boxes = [box.bounding_box() for box in page.locator(".st-key-comparison .cursor div").all()]
    assert len({round(box["y"]) for box in boxes if box}) == 1
    page.mouse.move(5, 5)
    expect(page.locator(".st-key-comparison .cursor div")).to_have_count(0)


def test_one_click_shows_unguided_attention_beside_the_guided(open_page: Opener, address: str) -> None:
    page = to_section(open_page(), address, other_model="small-dot")
    for _ in range(2):
        page.goto(f"{address}/?{urlencode({'sentence': SENTENCE})}")
        page.get_by_role("button", name="See unguided attention").click()
        wait_until_drawn(page)
        expect(page.locator(".st-key-compared select")).to_have_value("small-additive")
        headings = page.locator(f"{CHART} .annotation")
        expect(headings.filter(has_text="en-fr").first).to_be_visible()
        expect(headings.filter(has_text="small-additive").first).to_be_visible()
        expect(page.get_by_text("small-additive").and_(page.locator(".explanation, p")).first).to_be_visible()
        page.go_back()
        page.wait_for_selector(READY)
        expect(page.get_by_role("button", name="See unguided attention")).to_be_visible()


@pytest.mark.nightly
def test_posterior_view_applies_to_both_models_and_the_first_page(open_page: Opener, address: str) -> None:
    page = to_section(open_page(), address, other_model="small-dot")
    page.keyboard.press("b")
    expect(page.locator(".st-key-face [aria-checked=true]")).to_have_text("After the word")
    expect(page.locator(f"{CHART} .annotation").first).to_contain_text("α′, after the word")
    page.locator(".st-key-by").get_by_text("words").click()
    page.wait_for_url(re.compile("by=words"))
    page.locator(".page-links").get_by_text("Translate", exact=True).click()
    page.wait_for_selector(READY)
    expect(page.locator(".st-key-face [aria-checked=true]")).to_have_text("After the word")
    page.go_back()
    wait_until_drawn(page)
    parameters = query_parameters(page)
    assert parameters | {"other_model": "small-dot", "face": "after", "by": "words"} == parameters
    expect(page.locator(".st-key-compared select")).to_have_value("small-dot")


@pytest.mark.nightly
@on_both
def test_words_are_dropped_and_swapped_by_mouse(open_page: Opener, address: str, snapshot: SnapshotAssertion) -> None:
    page = to_section(open_page(), address, compare="sentence", other_sentence=SHORTER)
    expect(page.locator(".compared")).to_contain_text(SENTENCE)
    expect(page.locator(".compared del")).to_have_text(["red", "rouge"])
    assert meta(page)["sources"][5] == 5  # the column of the dropped word is the first sentence's own
    page.locator(".st-key-edited_word button").nth(1).click()
    page.get_by_role("button", name="Drop “girl”").click()
    expect(page.locator(".compared del").first).to_have_text("girl")
    page.wait_for_url(re.compile(r"other_sentence=A\+is\+riding"))
    page.locator(".st-key-edited_word button").nth(3).click()
    page.get_by_role("button", name="Swap “a” and “bicycle”").click()
    expect(page.locator(".st-key-other_sentence textarea")).to_have_value("A is riding bicycle a.")
    page.get_by_role("button", name="Undo all").click()
    expect(page.locator(".compared")).to_have_count(0)
    assert text_of(page.locator(".st-key-compare_told")) == snapshot
    page.locator(".st-key-other_sentence textarea").fill("A boy is riding a red bicycle.")
    page.keyboard.press("Control+Enter")
    wait_until_drawn(page)
    expect(page.locator(".compared ins").first).to_have_text("boy")
    colour = "(node) => getComputedStyle(node).color"
    marked, around = (page.locator(f".compared {tag}").first.evaluate(colour) for tag in ("ins", ".encoder"))
    assert marked != around
    page.reload()
    wait_until_drawn(page)
    expect(page.locator(".st-key-other_sentence textarea")).to_have_value("A boy is riding a red bicycle.")


@pytest.mark.nightly
@on_both
def test_words_are_dropped_by_keyboard(open_page: Opener, address: str) -> None:
    page = to_section(open_page(), address, compare="sentence", other_sentence=SHORTER)
    page.locator(".st-key-other_sentence textarea").focus()
    page.keyboard.press("Tab")
    reached = page.evaluate("document.activeElement.closest('.st-key-edited_word') !== null")
    assert reached, "the words come after the box"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.locator(".st-key-drop_word button")).to_be_enabled()
    assert query_parameters(page)["step"] == "1"  # the arrow was for the words
    named = page.locator(".st-key-drop_word").inner_text()
    page.locator(".st-key-drop_word button").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-drop_word button")).to_be_disabled()
    dropped = re.search("“(.*)”", named)
    assert dropped
    page.wait_for_url(lambda url: dropped[1] not in parse_qs(urlsplit(url).query)["other_sentence"][0].split())


@pytest.mark.nightly
@within(WIDE_DARK, NARROW)
def test_what_if_is_shown_beside_the_original_translation(open_page: Opener, address: str) -> None:
    page = to_section(open_page(), address, compare="what-if", what_ifs=link(only(9, 3, 1)), what_if="1")
    expect(page.locator(f"{CHART} .annotation").nth(1)).to_contain_text("what-if 1")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect_step(page, 3, meta(page)["rows"][3])
    expect(page.locator(".st-key-comparison .chart-box > p")).to_contain_text("what-if 1 “girl” (1.00)")


@pytest.mark.nightly
def test_choices_survive_switching_sections_and_comparisons(
    open_page: Opener, address: str, snapshot: SnapshotAssertion
) -> None:
    page = to_section(open_page(), address)
    page.keyboard.press("ArrowRight")
    expect_step(page, 1, 1)
    for kind, message in (("Two sentences", ".st-key-compare_told"), ("A what-if", ".st-key-compare_told")):
        page.locator(".st-key-compare").get_by_text(kind).click()
        expect(page.locator(message)).to_be_visible()
    page.locator(".st-key-section").get_by_text("Attributions").click()
    page.wait_for_selector(".st-key-attributions .js-plotly-plot .ytick")
    page.wait_for_url(lambda url: "compare=" not in url)
    page.locator(".st-key-section").get_by_text("Side by side").click()
    page.wait_for_url(re.compile("compare=what-if"))
    wait_until_idle(page)
    assert text_of(page.locator(".st-key-compare_told")) == snapshot
    page.locator(".st-key-compare").get_by_text("Two models").click()
    wait_until_drawn(page)
    expect_step(page, 1, 1)
    page.locator(".st-key-lang").get_by_text("FR").click()
    expect(page.locator(f"{CHART} .annotation").nth(2)).to_contain_text("Différence")
    expect_step(page, 1, 1)


@pytest.mark.nightly
def test_tables_and_downloads_contain_the_numbers(open_page: Opener, address: str, snapshot: SnapshotAssertion) -> None:
    page = to_section(open_page(), address)
    page.get_by_text("The charts as tables").click()
    expect(page.locator(".st-key-tables .tables table")).to_have_count(2)
    page.get_by_text("Download").first.click()
    with page.expect_download() as saved:
        page.locator(".st-key-export").get_by_text("CSV").first.click()
    text = saved.value.path().read_text(encoding="utf-8-sig")
    assert text.splitlines()[0].split(",") == snapshot(name="columns")
    assert len(text.splitlines()) == 1 + 8 * 9
    with page.expect_download() as saved:
        page.locator(".st-key-export").get_by_text("SVG").first.click()
    assert re.search(">small-additive [^<]*en-fr<", saved.value.path().read_text(encoding="utf-8"))
