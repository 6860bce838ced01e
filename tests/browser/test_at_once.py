"""Races between a step and another action in the same tick: both take effect, and steps need no server run."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from attnviz.browser_modules import url_folder
from tests.browser.conftest import Opener
from tests.browser.settled import settled
from tests.browser.test_tour import wait_for_stop
from tests.browser.views import open_share

pytestmark = pytest.mark.browser

PRESS_BOTH = """([key, control]) => {
  const press = document.querySelector(control);
  document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  press.click();
}"""


def press_both(page: Page, key: str, control: str) -> None:
    """Press a key and click a control in the same tick."""
    page.evaluate(PRESS_BOTH, [key, control])


AND_HISTORY = """(word, [direction, wait]) => {
  word.click();
  setTimeout(() => history[direction](), wait);
}"""


def expect_step(page: Page, step: int, words: str) -> None:
    """Wait until page and address are at `step`; `words` is the word for step in the page's language."""
    expect(page.locator(".facts h2")).to_have_text(re.compile(f"^{words} {step} "))
    expect(page.locator("[class*='st-key-room']").first).to_have_attribute("data-step", str(step - 1))
    page.wait_for_url(re.compile(rf"[?&#]step={step}(&|$)"))


@pytest.mark.nightly
def test_simultaneous_step_and_language_switch_both_apply(open_page: Opener) -> None:
    page = open_page("?step=2")
    settled(page)
    for _ in range(3):
        press_both(page, "ArrowRight", ".st-key-lang button:last-of-type")
        expect_step(page, 3, "Étape")
        press_both(page, "ArrowLeft", ".st-key-lang button:first-of-type")
        expect_step(page, 2, "Step")


@pytest.mark.nightly
def test_simultaneous_step_and_control_click_both_apply(open_page: Opener) -> None:
    page = open_page("?step=2")
    settled(page)
    press_both(page, "ArrowRight", ".st-key-tables summary")  # in a part of its own
    expect(page.locator(".st-key-tables .tables table").first).to_be_attached()
    expect_step(page, 3, "Step")
    ticks = page.locator(".st-key-heatmap .xtick")
    shown = ticks.count()
    press_both(page, "ArrowRight", ".st-key-end input")  # a switch of the room of steps
    expect(ticks).to_have_count(shown - 1)
    expect_step(page, 4, "Step")
    press_both(page, "ArrowRight", '.page-links a[data-page="why"]')  # another page
    page.wait_for_url(re.compile("[?&]page=why"))
    expect(page.locator(".st-key-why_opening")).to_be_visible()


@pytest.mark.nightly
@pytest.mark.parametrize("direction", ["back", "forward"])
def test_history_navigation_right_after_a_step_is_followed(open_page: Opener, direction: str) -> None:
    """Whichever message reaches the server first, it shows the state in the URL."""
    page = open_page("?tour=3")
    wait_for_stop(page, 3)
    page.keyboard.press("ArrowRight")
    wait_for_stop(page, 4)
    if direction == "forward":
        page.go_back()
    for count, wait in enumerate((0, 70, 90)):
        wait_for_stop(page, 3 if direction == "forward" else 4)
        page.locator(".player .target .word").nth(count % 2).evaluate(AND_HISTORY, [direction, wait])
        wait_for_stop(page, 4 if direction == "forward" else 3)
        page.go_back() if direction == "forward" else page.go_forward()


RUNS = """() => {
  const { send } = WebSocket.prototype;
  window.sent = 0;
  WebSocket.prototype.send = function (...message) {
    window.sent += 1;
    return send.apply(this, message);
  };
}"""
"""Count the messages that the browser sends to the server."""


def test_steps_display_options_and_boxes_send_no_message_to_the_server(open_page: Opener) -> None:
    page = open_page("?step=1")
    settled(page)
    page.evaluate(RUNS)
    for number in range(2, 8):
        page.keyboard.press("ArrowRight")
        expect_step(page, number, "Step")
    page.locator(".player .source .word").nth(1).click()
    page.wait_for_url(re.compile("source="))
    settled(page)
    columns = page.locator(".st-key-heatmap .xtick").count()
    page.locator(".st-key-end input").click()
    expect(page.locator(".st-key-heatmap .xtick")).to_have_count(columns - 1)
    page.keyboard.press("b")
    expect(page.locator(".st-key-heatmap .chart .colorbar")).to_contain_text("α′ = 0")
    open_share(page)
    expect(page.locator(".st-key-export")).to_contain_text("step 7")
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-export")).to_have_count(0)
    page.locator(".st-key-after_word button").click()
    expect(page.locator(".st-key-looking_back .js-plotly-plot")).to_be_visible()
    page.locator(".st-key-tables summary").click()
    expect(page.locator(".st-key-tables .tables table").first).to_be_visible()
    assert page.evaluate("window.sent") == 0


@pytest.mark.nightly
def test_stale_view_element_does_not_replace_the_current_view(open_page: Opener) -> None:
    """Streamlit keeps the old element in the new view for a moment, and the order of their messages is undefined."""
    page = open_page()
    settled(page)
    shown = page.evaluate(
        """async (name) => {
      const { default: mount } = await import(`./${name}`), room = document.querySelector(".st-key-room");
      const left = document.querySelector(".view-state").parentElement.cloneNode(true), { view } = room.attnvizView;
      room.append(left);
      mount({ data: { ...view, container: "room-other", identity: "other" }, parentElement: left })?.();
      left.remove();
      return [view.identity, room.attnvizView.view.identity];
    }""",
        f"{url_folder()}/ui/components/view_state/view_state.js",
    )
    assert shown[0] == shown[1]
    page.keyboard.press("ArrowRight")
    expect_step(page, 2, "Step")
