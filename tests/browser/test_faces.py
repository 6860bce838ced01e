"""Attention before the word, after the word, and their difference: switched by key and by control."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opener
from tests.browser.server import READY
from tests.browser.settled import bring_into_sight, settled
from tests.browser.test_languages import switch
from tests.browser.views import BAR_LENGTHS, on_a_telephone, on_both, parameters_of

pytestmark = pytest.mark.browser

FACES = {"before": "Before the word", "after": "After the word", "difference": "Difference"}
LEGENDS = {"before": "α = 0", "after": "α′ = 0", "difference": "α′ − α = "}


def linked_view(page: Page) -> str | None:
    """Return the attention view in the URL."""
    return parameters_of(page.url).get("face")


def expect_face(page: Page, face: str) -> None:
    """Wait until control, heatmap and address are at `face`."""
    expect(page.locator(".st-key-face [aria-checked=true]")).to_have_text(FACES[face])
    expect(page.locator(".st-key-heatmap .chart .colorbar")).to_contain_text(LEGENDS[face])
    page.wait_for_url(lambda url: parameters_of(url).get("face", "before") == face)
    assert linked_view(page) == (None if face == "before" else face)


def hover_text(page: Page) -> str:
    """Return the tooltip of the cell with the largest number."""
    chart = page.locator(".st-key-heatmap .chart")
    chart.evaluate("(chart) => chart.scrollIntoView({ block: 'center' })")  # no row behind the sticky bar
    page.mouse.move(5, 5)
    expect(chart.locator(".hoverlayer .hovertext")).to_have_count(0)
    place: dict[str, Any] = chart.evaluate(
        """(chart) => {
          const { z } = chart.calcdata[0][0];
          const all = z.flatMap((row, i) => Array.from(row, (value, j) => ({ value, i, j })));
          const { i, j } = all.reduce((one, other) => other.value > one.value ? other : one);
          const { xaxis, yaxis } = chart._fullLayout, box = chart.getBoundingClientRect();
          return { x: box.x + xaxis._offset + xaxis.c2p(j), y: box.y + yaxis._offset + yaxis.c2p(i) };
        }"""
    )
    page.mouse.move(place["x"] + 2, place["y"] + 2)
    expect(chart.locator(".hoverlayer .hovertext")).to_have_count(1)
    text: str = chart.locator(".hoverlayer .hovertext").text_content()
    return text


def expect_hover(page: Page, face: str) -> None:
    tooltip = hover_text(page)
    if face == "before":
        assert re.search(r"α = \d\.\d{4}", tooltip)
        assert "the word" not in tooltip
        return
    before, after, difference = (float(found.replace("−", "-")) for found in re.findall(r"= ([−+]?\d\.\d{4})", tooltip))
    assert tooltip.index("Before the word") < tooltip.index("After the word")
    assert after - before == pytest.approx(difference, abs=2e-4)
    assert difference > 0 if face == "difference" else after > 0.5


@pytest.mark.nightly
@on_both
def test_key_and_control_switch_attention_views(open_page: Opener) -> None:
    page = open_page("?step=3")
    settled(page)
    expect_face(page, "before")
    expect_hover(page, "before")
    for face in ("after", "difference", "before", "after"):
        page.keyboard.press("b")
        expect_face(page, face)
        expect_hover(page, face)
        expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 3 of "))
    for face in ("difference", "after", "before", "difference"):
        page.locator(".st-key-face button", has_text=FACES[face]).click()
        expect_face(page, face)
        expect_hover(page, face)
    page.keyboard.press("ArrowRight")  # the control does not capture arrow keys
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 4 of "))
    page.reload()
    page.wait_for_selector(READY)
    expect_face(page, "difference")
    page.keyboard.press("?")
    expect(page.locator(".keys kbd").get_by_text("B", exact=True)).to_have_count(1)
    page.keyboard.press("?")
    switch(page, "fr")
    settled(page)
    page.keyboard.press("b")
    expect(page.locator(".st-key-face [aria-checked=true]")).to_have_text("Avant le mot")
    expect(page.locator(".st-key-heatmap .chart .colorbar")).to_contain_text(LEGENDS["before"])
    switch(page, "en")
    expect_face(page, "before")


@pytest.mark.nightly
@on_a_telephone
def test_posterior_columns_load_when_opened_and_follow_the_step(open_page: Opener) -> None:
    page = open_page("?step=3")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    part, opener = page.locator(".st-key-looking_back"), page.locator(".st-key-looking_back [aria-expanded]")
    bring_into_sight(opener)
    settled(page)
    assert not [url for url in asked if "/posterior?" in url]
    opener.focus()
    page.keyboard.press("Enter")
    for reload in (False, True):
        expect(part.locator(".chart-box h3")).to_have_text("Prior × likelihood → posterior")
        page.wait_for_selector(".st-key-looking_back .js-plotly-plot .xtick")
        page.wait_for_url(re.compile("after_word=1"))
        settled(page)
        if not reload:
            before = part.locator(".chart").evaluate(BAR_LENGTHS)
            page.keyboard.press("ArrowRight")
            expect(part.locator(".katex-mathml").first).to_contain_text("4")
            settled(page)
            assert part.locator(".chart").evaluate(BAR_LENGTHS) != before
            page.reload()
            page.wait_for_selector(READY)
            bring_into_sight(opener)
    opener.click()
    expect(part.locator(".chart-box")).to_be_hidden()
    page.wait_for_function("() => !location.hash.includes('after_word')")
