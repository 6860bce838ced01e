"""A step and a control of the page at the same moment, in Chromium: the server hears of both, and loses neither."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from attnviz.ui.modules import folder
from tests.browser.conftest import Opener
from tests.browser.settled import settled
from tests.browser.test_tour import stop

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


AND_HISTORY = """(word, [direction, wait]) => {
  word.click();
  setTimeout(() => history[direction](), wait);
}"""


def expect_step(page: Page, step: int, words: str) -> None:
    """Wait until browser, server and address are at `step`, in a language by the word it has for one."""
    expect(page.locator(".facts h2")).to_have_text(re.compile(f"^{words} {step} "))
    expect(page.locator(".player")).to_have_attribute("data-confirmed", str(step - 1))
    page.wait_for_url(re.compile(rf"[?&]step={step}(&|$)"))


@pytest.mark.nightly
def test_a_step_and_another_language(open_page: Opener) -> None:
    page = open_page("?step=2")
    settled(page)
    for _ in range(3):
        at_once(page, "ArrowRight", ".st-key-lang button:last-of-type")
        expect_step(page, 3, "Étape")
        at_once(page, "ArrowLeft", ".st-key-lang button:first-of-type")
        expect_step(page, 2, "Step")


@pytest.mark.nightly
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


@pytest.mark.nightly
@pytest.mark.parametrize("direction", ["back", "forward"])
def test_a_step_and_back_or_forward(open_page: Opener, direction: str) -> None:
    """Whichever the server hears of first, it shows what the address says."""
    page = open_page("?tour=3")
    stop(page, 3)
    page.keyboard.press("ArrowRight")
    stop(page, 4)
    if direction == "forward":
        page.go_back()
    for count, wait in enumerate((0, 70, 90)):
        stop(page, 3 if direction == "forward" else 4)
        page.locator(".player .target .word").nth(count % 2).evaluate(AND_HISTORY, [direction, wait])
        stop(page, 4 if direction == "forward" else 3)
        page.go_back() if direction == "forward" else page.go_forward()


@pytest.mark.nightly
def test_what_is_left_of_another_room_says_nothing(open_page: Opener) -> None:
    """Streamlit draws it in the new room for a moment, and nothing says in which order the two of them speak."""
    page = open_page()
    settled(page)
    shown = page.evaluate(
        """async (name) => {
      const { default: messenger } = await import(`./${name}`), room = document.querySelector(".st-key-room");
      const left = document.querySelector(".messenger").parentElement.cloneNode(true), { server } = room.attnvizView;
      room.append(left);
      messenger({ data: { ...server, room: "room-other", identity: "other" }, parentElement: left })?.();
      left.remove();
      return [server.identity, room.attnvizView.server.identity];
    }""",
        f"{folder()}/ui/components/messenger/messenger.js",
    )
    assert shown[0] == shown[1]
    page.keyboard.press("ArrowRight")
    expect_step(page, 2, "Step")
