"""Toolbar of the page *Translate*: search settings, and size and spacing of controls on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opener
from tests.browser.settled import settled, wait_until_idle, wait_until_still
from tests.browser.test_accessibility import BOX, close_box
from tests.browser.views import at_night, open_settings

pytestmark = pytest.mark.browser

SMALLEST = 24
"""Pixels of the least width and height of what is touched (WCAG 2.5.8)."""


def open_box(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


@pytest.mark.nightly
def test_search_setting_survives_a_new_sentence_and_model(open_page: Opener) -> None:
    page = open_page()
    status = page.locator(".st-key-status")
    expect(status).to_contain_text("beam search, width 5")
    page.locator(".st-key-sentence textarea").fill("We eat.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".player .source")).to_contain_text("eat")
    open_settings(page)
    page.locator(".st-key-model select").select_option(label="small-dot")
    expect(status).to_contain_text("small-dot (attention not guided) on")
    expect(status).to_contain_text("beam search, width 5")


def test_enter_translates_and_shift_enter_begins_a_line(open_page: Opener) -> None:
    page = open_page("?depth=idea")
    wait_until_idle(page)
    box = page.locator(".st-key-sentence textarea")
    box.fill("We eat.")
    box.press("Shift+Enter")
    expect(box).to_have_value("We eat.\n")
    expect(page.locator(".player .source")).not_to_contain_text("eat")
    box.fill("We eat.")
    box.press("Enter")
    expect(page.locator(".player .source")).to_contain_text("eat")
    expect(box).to_have_value("We eat.")
    expect(box).not_to_be_focused()  # the arrow keys are to step
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: "step=2" in url)


CLASHES = """
(smallest) => {
  const seen = (node) => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const box = (node) => node.getBoundingClientRect();
  const name = (node) => (node.ariaLabel || node.textContent).trim().slice(0, 40) || node.className;
  const what = "button, input[type=range], [role=radio], select, a[href], summary";
  const targets = [...document.querySelectorAll(what)]
    .filter((node) => seen(node) && box(node.parentElement).width > 1 && !node.closest("[aria-hidden=true]"));
  const small = targets.filter((node) => !node.matches(".word, .player .piece, .finding, a"))
    .filter((node) => box(node).height < smallest || box(node).width < smallest).map(name);
  const crossed = [];
  targets.forEach((one, k) => targets.slice(k + 1).forEach((other) => {
    if (one.contains(other) || other.contains(one)) return;
    const [a, b] = [box(one), box(other)];
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    const fixed = [one, other].some((node) => node.closest(".stAppHeader, .bar"));
    if (wide > 2 && high > 2 && !fixed) crossed.push(`${name(one)} / ${name(other)}`);
  }));
  const beyond = targets.filter((node) => box(node).right > innerWidth + 1 || box(node).left < -1).map(name);
  return { small, crossed, beyond };
}
"""


@pytest.mark.parametrize("lang", ["en", at_night("fr")])
def test_controls_on_a_phone_do_not_overlap_and_are_large_enough(open_page: Opener, lang: str) -> None:
    page = open_page(f"?lang={lang}", width=390, height=844)
    settled(page)
    assert page.evaluate(CLASHES, SMALLEST) == {"small": [], "crossed": [], "beyond": []}
    opened = page.locator(BOX)
    for box in ("examples", "more", "glossary"):
        page.locator(f".st-key-{box} button").first.click()
        wait_until_still(opened)
        found = page.evaluate(CLASHES, SMALLEST)  # an open box lies over the page, and crosses it
        assert (found["small"], found["beyond"]) == ([], []), box
        close_box(page)
