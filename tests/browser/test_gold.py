"""Gold alignment links pasted by hand: validation, error rate, marks in the heatmap, and reload."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opener
from tests.browser.settled import settled
from tests.browser.test_languages import switch

pytestmark = pytest.mark.browser

QUERY = "?sentence=The+green+house+is+large.&target=La+maison+verte+est+grande.&depth=numbers"
HEATMAP = ".st-key-heatmap .chart"


def marks(page: Page) -> dict[str, int]:
    """Return how many marks of each kind are drawn."""
    found: dict[str, int] = page.locator(HEATMAP).evaluate(
        "(chart) => Object.fromEntries(chart._fullData.filter(({ type }) => type === 'scatter')"
        ".map(({ name, x }) => [name, x.length]))"
    )
    return found


def test_pasted_gold_links_are_validated_scored_and_restored(open_page: Opener) -> None:
    page = open_page(QUERY)
    settled(page, ".st-key-heatmap")
    page.locator(".st-key-gold_box button").click()
    box = page.locator(".st-key-gold_text textarea")
    expect(box).to_be_visible()
    box.fill("0-0 2-1 9-3")
    page.locator(".st-key-gold_show button").click()
    expect(page.locator(".st-key-gold_panel")).to_contain_text("The link 9-3 is out of range")
    settled(page, ".st-key-heatmap")
    box.fill("0-0 2-1 1-2 3?3 0-4 5-5")  # 0-4 is nobody's
    page.locator(".st-key-gold_show button").click()
    panel = page.locator(".st-key-gold_panel")
    expect(panel).to_contain_text("alignment error rate")
    missed = panel.get_by_role("button", name="misses the link “The” → “grande” (0-4)")
    expect(missed).to_have_count(1)
    page.wait_for_url(re.compile(r"gold=[0-9a-f]{12}\.0-0\.2-1\.1-2\.3p3\.0-4\.5-5"))
    page.keyboard.press("Escape")
    settled(page, ".st-key-heatmap")
    drawn = marks(page)
    assert drawn["sure"] == 5
    assert drawn["possible"] == 1

    missed.click()
    expect(missed).to_have_attribute("aria-current", "step")
    page.wait_for_url(re.compile(r"step=\d+&source=1|source=1&step=\d+"))
    page.get_by_role("radio", name="After the word").click()
    expect(panel).to_contain_text("After the word: alignment error rate")
    settled(page, ".st-key-heatmap")
    switch(page, "fr")
    expect(panel).to_contain_text("taux d’erreur d’alignement")

    page.reload()
    expect(panel).to_contain_text("taux d’erreur d’alignement", timeout=60_000)
    settled(page, ".st-key-heatmap")
    assert marks(page)["sure"] == 5
