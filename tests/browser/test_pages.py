"""Choices on the page *Translate* survive a visit to another page."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.browser.server import READY
from tests.browser.test_page import NEW, expect_step, query, type_sentence

pytestmark = [pytest.mark.browser, pytest.mark.nightly]


@pytest.fixture(scope="module")
def script() -> str:
    return "tests/browser/two_pages.py"


def test_sentence_options_and_step_survive_a_page_change(open_page: Opener) -> None:
    page = open_page()
    type_sentence(page, NEW)
    expect(page.locator(".player .source")).to_contain_text("snow")
    page.locator(".st-key-by").get_by_text("words").click()
    page.locator(".st-key-root label").click()
    expect(page.locator(".st-key-root input")).to_be_checked()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect_step(page, 3)
    for _ in range(2):  # to and fro, and once more
        page.locator(".page-links").get_by_text("Elsewhere").click()
        expect(page.get_by_test_id("stText")).to_be_visible()
        page.locator(".page-links").get_by_text("Translate").click()
        page.wait_for_selector(READY)
        expect(page.locator(".st-key-sentence textarea")).to_have_value(NEW)
        expect(page.locator(".st-key-root input")).to_be_checked()
        expect(page.locator(".st-key-by [aria-checked=true], .st-key-by [aria-pressed=true]")).to_have_text("words")
        expect_step(page, 3)
    assert query(page)["sentence"] == NEW


def test_model_and_search_survive_a_page_change(open_page: Opener) -> None:
    page = open_page("?model=small-dot&search=beam+3")
    expect(page.locator(".st-key-status")).to_contain_text("small-dot")
    page.locator(".page-links").get_by_text("Elsewhere").click()
    expect(page.get_by_test_id("stText")).to_be_visible()
    page.locator(".page-links").get_by_text("Translate").click()
    page.wait_for_selector(READY)
    expect(page.locator(".st-key-status")).to_contain_text("small-dot")
    expect(page.locator(".st-key-status")).to_contain_text("width 3")
    assert query(page)["model"] == "small-dot"
