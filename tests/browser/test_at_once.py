"""A step and a control of the page at the same moment, in Chromium: the server hears of both, and loses neither."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opener
from tests.browser.settled import settled

pytestmark = pytest.mark.browser

AT_ONCE = """([key, control]) => {
  const press = document.querySelector(control);
  document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  setTimeout(() => press.click(), LATE); // in the tick in which the server is told of the step
}"""
LATE = 80
"""What the messenger waits for another key, in milliseconds."""


def at_once(page: Page, key: str, control: str) -> None:
    """Press a key, and a control just when the server is told of what the key did."""
    page.evaluate(AT_ONCE.replace("LATE", str(LATE)), [key, control])


def expect_step(page: Page, step: int, words: str) -> None:
    """Wait until browser, server and address are at `step`, in a language by the word it has for one."""
    expect(page.locator(".facts h2")).to_have_text(re.compile(f"^{words} {step} "))
    expect(page.locator(".player")).to_have_attribute("data-confirmed", str(step - 1))
    page.wait_for_url(re.compile(rf"[?&]step={step}(&|$)"))


def test_a_step_and_another_language(open_page: Opener) -> None:
    page = open_page("?step=2")
    settled(page)
    for _ in range(3):
        at_once(page, "ArrowRight", ".st-key-lang button:last-of-type")
        expect_step(page, 3, "Étape")
        at_once(page, "ArrowLeft", ".st-key-lang button:first-of-type")
        expect_step(page, 2, "Step")


def test_a_step_and_other_controls(open_page: Opener) -> None:
    page = open_page("?step=2")
    settled(page)
    at_once(page, "ArrowRight", ".st-key-tables summary")  # in a part of its own
    expect(page.locator(".st-key-tables [data-testid=stDataFrame]").first).to_be_attached()
    expect_step(page, 3, "Step")
    ticks = page.locator(".st-key-heatmap .xtick")
    shown = ticks.count()
    at_once(page, "ArrowRight", ".st-key-end input")  # a switch of the room of steps
    expect(ticks).to_have_count(shown - 1)
    expect_step(page, 4, "Step")
    at_once(page, "ArrowRight", ".st-key-page_why a")  # another page
    page.wait_for_url(re.compile("/why"))
    expect(page.locator(".st-key-why_opening")).to_be_visible()
