"""Lab: perturbation tests, the beam search and two translations side by side, with the state of *Translate*."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from attnviz.trace.interventions import Temperature
from tests.browser.conftest import Opener
from tests.browser.contrast import faint
from tests.browser.server import READY
from tests.browser.settled import WAIT_UNTIL_STILL, go_to_page, wait_until_idle, wait_until_still
from tests.browser.test_axe import violations
from tests.browser.test_page import NEW, expect_step, query, type_sentence
from tests.browser.views import address_with, on_both
from tests.what_if_links import link

pytestmark = pytest.mark.browser


ATTRIBUTIONS, PERTURBATION_TESTS = (
    ".st-key-attributions .js-plotly-plot .ytick",
    ".st-key-perturbation-tests .js-plotly-plot .xtick",
)
"""Selectors that match once the picture of a section is drawn."""


def wait_for_step(page: Page, number: int) -> None:
    """Wait until browser and server are at a step, counted from 1."""
    expect(page.locator(".player .target .current .chosen")).to_have_attribute("data-index", str(number - 1))
    expect(page.locator("[class*='st-key-room']").first).to_have_attribute("data-step", str(number - 1))


PAIR_SENTENCE = "A girl is riding a red bicycle."


CHART = ".st-key-comparison .js-plotly-plot"


def to_section(page: Page, address: str, **query: str) -> Page:
    """Open the section with a link at the first step, and wait until it is drawn."""
    linked = {
        "section": "comparison",
        "sentence": PAIR_SENTENCE,
        "depth": "everything",
        "step": "1",
    } | query
    page.goto(f"{address}/lab{address_with(urlencode(linked))}")
    wait_until_drawn(page)
    return page


def wait_until_drawn(page: Page) -> None:
    page.wait_for_selector(f"{CHART} .ytick")
    wait_until_idle(page)


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


def expect_row(page: Page, step: int, row: int) -> None:
    """Wait until player, picture and server are at 0-based `step`, which is in `row`."""
    expect(page.locator("[class*='st-key-room']").first).to_have_attribute("data-step", str(step))
    expect(page.locator(".player .target .current .chosen")).to_have_attribute("data-index", str(step))
    page.wait_for_function(
        "([chart, row]) => document.querySelector(chart).layout.shapes.some(({ line, y0 }) => "
        "line.color === document.querySelector(chart).layout.meta.frame && y0 + 0.5 === row)",
        arg=[CHART, row],
    )
    assert framed_rows(page) == {row}


@on_both
def test_one_player_moves_both_translations(open_page: Opener, address: str) -> None:
    page = to_section(open_page(), address)
    expect_row(page, 0, 0)
    page.keyboard.press("ArrowRight")
    expect_row(page, 1, 1)
    expect(page.locator(".st-key-comparison .chart-box > p")).to_contain_text("“fille”: step 2 in both translations.")
    page.locator(".player .next").last.click()
    expect_row(page, 2, 2)
    at = cell(page, "difference", 4, 6)
    page.mouse.move(*at)
    expect(page.locator(".st-key-comparison .cursor div")).to_have_count(4)
    tooltip = page.locator(f"{CHART} .hovertext").text_content() or ""
    for part in ("vélo ← bicycle", "en-fr: α = ", "small-additive: α = ", "Difference: "):
        assert part in tooltip
    page.mouse.click(*at)
    expect_row(page, 4, 4)
    page.wait_for_url(re.compile("step=5"))
    assert query(page)["source"] == "7"
    page.keyboard.press("End")
    expect_row(page, 7, 7)
    page.reload()
    wait_until_drawn(page)
    expect_row(page, 7, 7)

    # The choices of each comparison stay while another one, or another section, is shown.
    for kind in ("Two sentences", "A what-if"):
        page.locator(".st-key-compare").get_by_text(kind).click()
        expect(page.locator(".st-key-compare_told")).to_be_visible()
    page.locator(".st-key-section").get_by_text("Attributions").click()
    page.wait_for_selector(".st-key-attributions .js-plotly-plot .ytick")
    page.wait_for_url(lambda url: "compare=" not in url)
    page.locator(".st-key-section").get_by_text("Side by side").click()
    page.wait_for_url(re.compile("compare=what-if"))
    wait_until_idle(page)
    page.locator(".st-key-compare").get_by_text("Two models").click()
    wait_until_drawn(page)
    expect_row(page, 7, 7)


def test_one_click_shows_unguided_attention_beside_the_guided(open_page: Opener, address: str) -> None:
    page = to_section(open_page(), address, other_model="small-dot")
    changed = {"what_ifs": link(Temperature(2, 0)), "what_if": "1"}
    for changes in ({}, changed):  # what was changed by hand is left out of the comparison
        page.goto(f"{address}/?{urlencode({'sentence': PAIR_SENTENCE} | changes)}")
        page.get_by_role("button", name="See unguided attention").click()
        wait_until_drawn(page)
        expect(page.locator(".st-key-compared select")).to_have_value("small-additive")
        headings = page.locator(f"{CHART} .annotation")
        expect(headings.filter(has_text="en-fr").first).to_be_visible()
        expect(headings.filter(has_text="what-if")).to_have_count(0)
        expect(headings.filter(has_text="small-additive").first).to_be_visible()
        expect(page.get_by_text("small-additive").and_(page.locator(".explanation, p")).first).to_be_visible()
        page.go_back()
        page.wait_for_selector(READY)
        expect(page.get_by_role("button", name="See unguided attention")).to_be_visible()


@on_both
def test_sections_of_the_lab_share_sentence_model_and_step_with_translate(open_page: Opener) -> None:
    page = open_page("?model=small-dot&search=beam+3", width=1280, height=720)
    type_sentence(page, NEW)
    expect(page.locator(".player .source")).to_contain_text("snow")
    page.locator(".st-key-by").get_by_text("words").click()
    for step in (2, 3):
        page.keyboard.press("ArrowRight")
        expect_step(page, step)
    go_to_page(page, "Lab")
    page.wait_for_selector(PERTURBATION_TESTS)
    wait_until_idle(page)
    shown = {"sentence": NEW, "model": "small-dot", "search": "beam 3", "by": "words", "step": "3"}
    assert query(page) | shown == query(page)

    # It opens on one question and one picture.
    section = page.locator(".st-key-perturbation-tests")
    expect(section.locator("h3")).to_have_text(re.compile(r"“.+”.*\?$"))
    expect(page.locator(".js-plotly-plot:visible")).to_have_count(1)
    for part in ("h3", ".js-plotly-plot", "p"):
        box = section.locator(part).bounding_box()
        assert box, part
        assert box["y"] + box["height"] <= 720, part
    assert faint(page, more_than=60) == []
    assert violations(page) == []

    # A typed word gets its own attention; a clicked point selects its step.
    page.locator(".st-key-all_steps button").click()
    paragraph, box = page.locator(".st-key-perturbation-tests p"), page.locator(".word-choice [data-what=word]")
    box.fill("neige")
    page.keyboard.press("Enter")
    expect(paragraph).to_contain_text("“neige”")  # the server tries a hundred attention distributions
    wait_until_idle(page)
    picture = page.locator(".st-key-shuffled .js-plotly-plot")
    wait_until_still(picture)
    point = picture.locator(".point").nth(1).bounding_box()
    assert point
    page.mouse.click(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
    wait_for_step(page, 2)
    expect(paragraph).not_to_contain_text("“neige”")

    # Keys in the list of sections change the section, not the step.
    page.locator(".st-key-section [role=radio]").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.wait_for_selector(".st-key-attributions .js-plotly-plot .ytick")
    wait_until_idle(page)
    assert query(page)["step"] == "2"
    page.locator(".player .transport .next").focus()
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 3)
    go_to_page(page, "Translate")
    page.wait_for_selector(READY)
    expect(page.locator(".st-key-sentence textarea")).to_have_value(NEW)
    expect(page.locator(".st-key-status")).to_contain_text("small-dot")
    expect_step(page, 3)

    # A finished hypothesis opens by mouse and keyboard, and is the what-if of *Translate*.
    page.goto(f"{page.url.partition('?')[0].rstrip('/')}/lab?{urlencode({'section': 'tree', 'sentence': NEW})}")
    entries, french = page.locator(".hypotheses li button"), page.locator(".player .target")
    expect(entries).to_have_count(5)
    first = french.inner_text()
    for place in (1, 2):
        text = page.locator(".hypotheses li .text").nth(place).inner_text()
        if place == 1:
            entries.nth(place).click()
        else:
            entries.nth(place).press("Enter")
        expect(entries.nth(place)).to_have_attribute("aria-current", "true")
        expect(french).to_have_text(re.compile(r"\s*".join(map(re.escape, text.split()))))
        expect(page.locator(".st-key-tree p")).to_contain_text(f"rank {place + 1} ")
        page.wait_for_url(f"**what_if={place}**")
    page.reload()
    expect(entries.nth(2)).to_have_attribute("aria-current", "true")
    assert french.inner_text() != first
    page.get_by_text("The charts as tables").click()
    expect(page.locator(".st-key-tables_rows table")).to_be_visible()
