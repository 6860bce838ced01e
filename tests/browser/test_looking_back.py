"""The section *After the word*: opened by mouse and keyboard, with columns that follow the step."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Opener
from tests.browser.server import READY
from tests.browser.settled import bring_into_sight, settled
from tests.browser.test_languages import switch
from tests.browser.views import BAR_LENGTHS, NARROW, NARROW_DARK, WIDE_DARK, on_a_telephone, parameters_of, within

pytestmark = pytest.mark.browser

PART = ".st-key-looking_back"
BARS = f"({BAR_LENGTHS})(document.querySelector('{PART} .js-plotly-plot'))"
"""JavaScript for the lengths of the bars in the three columns."""


def summary(page: Page) -> Locator:
    return page.locator(f"{PART} [aria-expanded]")


def linked_choice(page: Page) -> str | None:
    """Return whether the URL opens the expander, or None."""
    return parameters_of(page.url).get("after_word")


def expect_open(page: Page, heading: str = "Prior × likelihood → posterior") -> Any:
    """Wait until the columns are drawn and in the address; return their numbers."""
    expect(page.locator(f"{PART} .chart-box h3")).to_have_text(heading)
    page.wait_for_selector(f"{PART} .js-plotly-plot .xtick")
    page.wait_for_selector(f"{PART} .katex")
    page.wait_for_url(re.compile("after_word=1"))
    settled(page)
    return bar_lengths(page)


def bar_lengths(page: Page) -> Any:
    return page.evaluate(BARS)


def expect_bayes(found: Any) -> None:
    """Assert that the third column is the product of the first two, divided by its sum."""
    prior, likelihood, posterior = found
    evidence = sum(p * y for p, y in zip(prior, likelihood, strict=True))
    for p, y, share in zip(prior, likelihood, posterior, strict=True):
        assert share == pytest.approx(p * y / evidence, abs=1e-5)


@pytest.mark.nightly
@on_a_telephone
def test_posterior_columns_load_when_opened_and_follow_the_step(open_page: Opener) -> None:
    page = open_page("?step=3")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    bring_into_sight(summary(page))
    settled(page)
    expect(page.locator(f"{PART} .chart-box")).to_be_hidden()
    assert not [url for url in asked if "/posterior?" in url]
    assert linked_choice(page) is None
    bring_into_sight(summary(page))
    summary(page).click()
    first = expect_open(page)
    expect_bayes(first)
    assert [url for url in asked if "/posterior?" in url]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.keyboard.press("ArrowRight")
    expect(page.locator(f"{PART} .katex-mathml").first).to_contain_text("4")
    settled(page)
    page.wait_for_function(f"(before) => JSON.stringify({BARS}) !== before", arg=str(first).replace("'", '"'))
    expect_bayes(bar_lengths(page))
    page.reload()
    page.wait_for_selector(READY)
    bring_into_sight(summary(page))
    expect_bayes(expect_open(page))
    summary(page).click()
    expect(page.locator(f"{PART} .chart-box")).to_be_hidden()
    page.wait_for_function("() => !location.hash.includes('after_word')")


@pytest.mark.nightly
@within(WIDE_DARK, NARROW)
def test_posterior_columns_open_by_keyboard_and_in_french(open_page: Opener) -> None:
    page = open_page("?step=2")
    settled(page)
    summary(page).focus()
    page.keyboard.press("Enter")
    expect_open(page)
    page.keyboard.press("End")
    expect(page.locator(".facts h2")).to_have_text(re.compile(r"^Step (\d+) of \1$"))
    switch(page, "fr")
    expect(summary(page)).to_contain_text("Après le mot")
    expect_open(page, "A priori × vraisemblance → a posteriori")
    summary(page).focus()
    page.keyboard.press("Enter")
    expect(page.locator(f"{PART} .chart-box")).to_be_hidden()


@pytest.mark.nightly
@within(NARROW_DARK)
def test_posterior_is_verified_and_a_bar_selects_its_piece(open_page: Opener) -> None:
    page = open_page("?step=3&after_word=1")
    bring_into_sight(summary(page))
    expect_open(page)
    badge = page.locator(".verification .badge")
    bring_into_sight(badge)
    expect(badge).to_contain_text("verified")
    badge.click()
    for row in ("likelihoods p(y | h)", "posterior p(j | y)", "α′ of the heatmap"):
        expect(page.locator(".verification tbody tr", has_text=row)).to_contain_text("✓")
    page.keyboard.press("Escape")
    chart = page.locator(f"{PART} .js-plotly-plot")
    bring_into_sight(chart)
    place = chart.evaluate(
        """(chart) => {
          const { xaxis3, yaxis } = chart._fullLayout, box = chart.getBoundingClientRect();
          const posterior = chart.calcdata.find(([{ trace }]) => trace.type === "bar" && trace.xaxis === "x3");
          const longest = posterior.reduce((one, other) => other.s > one.s ? other : one);
          const [x, y] = [xaxis3._offset + xaxis3.c2p(longest.s / 2), yaxis._offset + yaxis.c2p(longest.p)];
          return { x: box.x + x, y: box.y + y };
        }"""
    )
    page.mouse.click(place["x"], place["y"])
    page.wait_for_url(re.compile(r"source=\d+"))
    expect(page.locator(f"{PART} .equation p")).to_contain_text("α′ = ")
