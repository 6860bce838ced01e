"""A step and a control of the page at the same moment, in Chromium: neither is lost, and no step runs the page."""

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
  press.click();
}"""


def at_once(page: Page, key: str, control: str) -> None:
    """Press a key and a control in one tick."""
    page.evaluate(AT_ONCE, [key, control])


AND_HISTORY = """(word, [direction, wait]) => {
  word.click();
  setTimeout(() => history[direction](), wait);
}"""


def expect_step(page: Page, step: int, words: str) -> None:
    """Wait until page and address are at `step`, in a language by the word it has for one."""
    expect(page.locator(".facts h2")).to_have_text(re.compile(f"^{words} {step} "))
    expect(page.locator("[class*='st-key-room']").first).to_have_attribute("data-step", str(step - 1))
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
    expect(page.locator(".st-key-tables .tables table").first).to_be_attached()
    expect_step(page, 3, "Step")
    ticks = page.locator(".st-key-heatmap .xtick")
    shown = ticks.count()
    at_once(page, "ArrowRight", ".st-key-end input")  # a switch of the room of steps
    expect(ticks).to_have_count(shown - 1)
    expect_step(page, 4, "Step")
    at_once(page, "ArrowRight", '.page-links a[data-page="why"]')  # another page
    page.wait_for_url(re.compile("[?&]page=why"))
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


RUNS = """() => {
  const { send } = WebSocket.prototype;
  window.sent = 0;
  WebSocket.prototype.send = function (...said) {
    window.sent += 1;
    return send.apply(this, said);
  };
}"""
"""Count the messages that the browser sends to the server."""


def test_no_step_runs_any_part_of_the_page(open_page: Opener) -> None:
    page = open_page("?step=1")
    settled(page)
    page.evaluate(RUNS)
    for number in range(2, 8):
        page.keyboard.press("ArrowRight")
        expect_step(page, number, "Step")
    page.locator(".player .source .word").nth(1).click()
    page.wait_for_url(re.compile("source="))
    settled(page)
    assert page.evaluate("window.sent") == 0


@pytest.mark.nightly
def test_what_is_left_of_another_room_says_nothing(open_page: Opener) -> None:
    """Streamlit draws it in the new room for a moment, and nothing says in which order the two of them speak."""
    page = open_page()
    settled(page)
    shown = page.evaluate(
        """async (name) => {
      const { default: mount } = await import(`./${name}`), room = document.querySelector(".st-key-room");
      const left = document.querySelector(".view-state").parentElement.cloneNode(true), { view } = room.attnvizView;
      room.append(left);
      mount({ data: { ...view, room: "room-other", identity: "other" }, parentElement: left })?.();
      left.remove();
      return [view.identity, room.attnvizView.view.identity];
    }""",
        f"{folder()}/ui/components/view_state/view_state.js",
    )
    assert shown[0] == shown[1]
    page.keyboard.press("ArrowRight")
    expect_step(page, 2, "Step")
