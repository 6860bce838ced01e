"""The page *Lab* in Chromium: what was on show stays there, and what is pointed at, clicked or pressed is followed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opener
from tests.browser.server import READY
from tests.browser.test_page import NEW, expect_step, query, type_sentence

pytestmark = pytest.mark.browser

DRAWN = ".st-key-answers .js-plotly-plot .ytick"


def at_rest(page: Page) -> None:
    """Wait until nothing waits for its numbers and the server has nothing more to say."""
    page.wait_for_selector("[data-waiting]", state="detached")
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')


def to_lab(page: Page) -> None:
    page.locator(".st-key-pages").get_by_text("Lab", exact=True).click()
    page.wait_for_selector(DRAWN)
    at_rest(page)


def test_the_lab_opens_with_what_is_on_show_and_leads_back(open_page: Opener) -> None:
    page = open_page("?model=small-dot&search=beam+3")
    type_sentence(page, NEW)
    expect(page.locator(".player .source")).to_contain_text("snow")
    page.locator(".st-key-by-en").get_by_text("pieces").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect_step(page, 3)
    for step in (3, 4):  # to and fro, and once more
        to_lab(page)
        expect(page.locator(".player .source")).to_contain_text("snow")
        expect(page.locator(".player .current .chosen")).to_have_attribute("data-index", str(step - 1))
        expect(page.locator(".player")).to_have_attribute("data-confirmed", str(step - 1))
        assert query(page) | {"step": [str(step)]} == query(page)
        assert query(page)["sentence"] == [NEW]
        assert query(page)["model"] == ["small-dot"]
        assert query(page)["search"] == ["beam 3"]
        page.keyboard.press("ArrowRight")
        expect(page.locator(".player")).to_have_attribute("data-confirmed", str(step))
        page.locator(".st-key-pages").get_by_text("Translate", exact=True).click()
        page.wait_for_selector(READY)
        expect(page.locator(".st-key-sentence textarea")).to_have_value(NEW)
        expect(page.locator(".st-key-status")).to_contain_text("small-dot")
        expect_step(page, step + 1)
        assert query(page)["by"] == ["pieces"]


def test_a_link_opens_the_lab_and_then_the_first_page_shows_the_same(open_page: Opener, address: str) -> None:
    page = open_page()
    page.goto(f"{address}/lab?sentence=Two+dogs+play+in+the+snow.&step=2&section=trials&model=small-dot&search=greedy")
    page.wait_for_selector(".st-key-trials .js-plotly-plot")
    at_rest(page)
    expect(page.locator(".player")).to_have_attribute("data-confirmed", "1")
    page.locator(".st-key-pages").get_by_text("Translate", exact=True).click()
    page.wait_for_selector(READY)
    expect(page.locator(".st-key-sentence textarea")).to_have_value("Two dogs play in the snow.")
    expect(page.locator(".st-key-status")).to_contain_text(re.compile("small-dot.*greedy"))
    expect_step(page, 2)
