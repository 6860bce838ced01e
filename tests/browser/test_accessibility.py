"""Accessibility of the page: keyboard use, focus and headings; `test_axe.py` checks contrast, names and roles."""

import contextlib
import io
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from attnviz.ui.examples import DEFAULT_SENTENCE
from tests.browser.settled import settled, wait_until_idle
from tests.browser.views import at_night

SHORT = "Two dogs play."

FOCUSED = """() => {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  if (!node || node === document.body) return null;
  const { x, y, width, height } = node.getBoundingClientRect();
  let key = "";
  for (let up = node; up && !key; up = up.parentElement ?? up.getRootNode().host) {
    key = String(up.className?.baseVal ?? up.className).match(/st-key-(?!field_)([\\w-]+)/)?.[1] ?? "";
  }
  const name = node.getAttribute("aria-label") || node.innerText || node.labels?.[0]?.innerText || "";
  return { key, name: name.trim(), tag: node.tagName, box: [x, y, width, height] };
}"""
LET_GO = """() => {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  node.blur();
  window.letGo = node;
}"""

BOX = '[data-testid="stPopoverBody"], .opened:popover-open'


def close_box(page: Page) -> None:
    """Press Escape until the popover is closed: on a busy machine Streamlit may miss the first key."""
    box = page.locator(BOX)
    for _ in range(4):
        page.keyboard.press("Escape")
        with contextlib.suppress(AssertionError):
            expect(box).to_have_count(0, timeout=3000)
            return
    expect(box).to_have_count(0)


TO_THE_TOP = """() => {
  document.body.tabIndex = -1;  // to blur what has the focus in a shadow tree leaves the next stop after it
  document.body.focus();
  document.body.removeAttribute("tabindex");
  getSelection().collapse(document.body, 0);
}"""


def stops(page: Page) -> Iterator[dict[str, Any]]:
    """Go through the page by Tab from its top; yield each stop but the page itself, until the first comes again."""
    page.evaluate(TO_THE_TOP)
    first = None
    for _ in range(150):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop is None:
            continue
        place = (stop["key"], stop["name"], stop["tag"])
        if place == first:
            return
        first = first or place
        yield stop
    pytest.fail("Tab never comes to the first stop again")


def picture_of(page: Page, box: list[float]) -> np.ndarray[Any, Any]:
    """Return the pixels of a part of the window with what lies 8 pixels around it."""
    x, y, width, height = box
    area = {"x": max(x - 8, 0), "y": max(y - 8, 0), "width": min(width, 700) + 16, "height": min(height, 300) + 16}
    image = Image.open(io.BytesIO(page.screenshot(clip=area, animations="disabled")))
    return np.asarray(image.convert("L"), dtype=float)


ORDER = (
    *("sentence", "translate", "depth", "examples_0", "tour_button", "more_0", "player", "by", "root", "colours"),
    *("facts", "verification", "glossary", "energy_decomposition_table", "growth", "logit_attribution_table", "tables"),
)
"""Stops on the way through the page, in the order of reading; there are others in between."""


@pytest.mark.nightly
@pytest.mark.parametrize("dark", [False, at_night(True)], ids=["light", "dark"])
def test_tab_visits_every_control_in_order_with_visible_focus(open_page, dark: bool) -> None:
    page = open_page(f"?sentence={SHORT}", dark=dark)
    page.emulate_media(reduced_motion="reduce")
    settled(page)
    keys, unseen = [], []
    for stop in stops(page):
        keys.append(stop["key"])
        assert stop["tag"] != "MAIN", "the box that scrolls is no control"
        assert stop["name"], stop
        focused = picture_of(page, stop["box"])
        page.evaluate(LET_GO)
        if (np.abs(focused - picture_of(page, stop["box"])) > 40).sum() < 40:
            unseen.append(stop)
        page.evaluate("() => window.letGo.focus({ preventScroll: true, focusVisible: true })")
    assert unseen == []
    places = [keys.index(key) for key in ORDER]
    assert places == sorted(places)


def test_page_is_usable_by_keyboard(open_page) -> None:
    page = open_page(f"?sentence={SHORT}")
    settled(page)
    levels = page.evaluate("""() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
      .filter((node) => node.checkVisibility()).map((node) => Number(node.tagName[1]))""")
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels
    reach(page, "sentence")
    page.keyboard.press("Control+A")
    page.keyboard.type("A man sleeps.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".player .source")).to_contain_text("man sleeps")
    settled(page)
    reach(page, "player", "Play")
    announced = page.locator(".st-key-facts [aria-live=polite]").inner_text()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".st-key-facts h2")).to_contain_text("2")
    expect(page.locator(".st-key-facts [aria-live=polite]")).not_to_have_text(announced)
    page.keyboard.press("ArrowDown")
    page.wait_for_url("**source=**")
    reach(page, "more_0")
    page.keyboard.press("Enter")
    expect(page.locator(BOX)).to_be_focused()
    page.keyboard.press("Tab")  # to the tabs of the box
    page.keyboard.press("End")
    heatmap = page.get_by_role("button", name="Heatmap, CSV")
    expect(heatmap).to_be_visible()
    for _ in range(7):  # into the box, past the link and the switches, not through the rest of the page
        page.keyboard.press("Tab")
        if heatmap.evaluate("(node) => node.matches(':focus')"):
            break
    expect(heatmap).to_be_focused()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "attnviz-a-man-sleeps-heatmap.csv"
    page.keyboard.press("Escape")
    expect(heatmap).to_be_hidden()
    expect(page.locator(".st-key-more button")).to_be_focused()
    assert "source=" in page.url, "Escape closes the box and nothing else"


@pytest.mark.parametrize(("path", "key"), [("", "sentence"), ("corpus", "corpus_sample")])
def test_skip_link_goes_to_the_first_control_after_the_links(open_page, path: str, key: str) -> None:
    page = open_page(path=path, ready=f".st-key-{key}")
    page.wait_for_selector(".page-links a")
    wait_until_idle(page)
    reach(page, "", "skip to main content")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => ({FOCUSED})()?.key === '{key}'")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(FOCUSED)["key"] == "lecture_mode"
    if path:
        return
    page.locator(".st-key-examples button").press("Enter")
    expect(page.locator(BOX)).to_be_focused()
    for key in ("Tab", "Tab", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(BOX)).to_have_count(0)
    expect(page.locator(".st-key-examples button")).to_be_focused()  # a chosen example gives its button the focus
    for key in ("more", "glossary"):  # popovers of Streamlit and of views: Tab leads out of them
        button = page.locator(f".st-key-{key} button").first
        button.press("Enter")
        settled(page)
        expect(page.locator(BOX)).to_be_focused()
        for _ in range(60):
            page.keyboard.press("Shift+Tab")
            assert page.evaluate(FOCUSED) is not None, f"{key}: the focus left the page"
            if button.evaluate("(node) => node === document.activeElement"):
                break
        expect(button).to_be_focused()
        expect(page.locator(BOX)).to_have_count(0)


def test_messages_are_announced_and_what_replaces_a_control_gets_its_focus(open_page) -> None:
    page = open_page(f"?depth=idea&sentence={SHORT}")
    wait_until_idle(page)
    box, announced = page.get_by_role("textbox", name="English sentence"), page.locator(".announced[role='status']")
    expect(announced).to_have_text("")
    box.fill("")
    box.press("Enter")
    expect(announced).to_have_text(re.compile("The sentence is empty"))
    box.fill(SHORT)
    box.press("Enter")
    expect(announced).to_have_text("")
    page.get_by_role("button", name="Try it").press("Enter")
    expect(page.get_by_role("radio", name="always that of step 1")).to_be_focused()
    page.locator(".what_ifs .undo").press("Enter")
    expect(page.locator(".st-key-facts [data-stage][tabindex='0']")).to_be_focused()
    page.get_by_role("radio", name="Everything").click()
    page.get_by_role("switch", name="Margins").press("Tab")
    expect(page.get_by_role("note", name="Help for Margins")).to_be_focused()


def test_terms_and_bars_of_a_picture_keep_and_give_back_the_focus(open_page) -> None:
    page = open_page(f"?depth=idea&stage=2&step=2&sentence={DEFAULT_SENTENCE}")
    settled(page, ".st-key-attention")
    page.locator(".st-key-attention .hand[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**source=**")
    page.keyboard.press("Escape")  # deselects the word of the bar
    page.wait_for_function("() => !new URLSearchParams(location.hash.slice(1)).has('source')")

    # A term has a card, by the mouse and by Tab, which goes on to the link on the card, and that to the next stage.
    card, terms = page.locator(".term-card"), page.locator(".st-key-attention .term:visible")
    mixture = terms.filter(has_text="mixture")
    mixture.click()
    expect(card).to_contain_text("Mixture (context vector)")
    expect(mixture).to_have_attribute("aria-describedby", re.compile("-term$"))
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    reach(page, "attention", terms.last.inner_text())
    page.keyboard.press("Tab")
    expect(card.locator(".visit")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-facts [data-stage='3']")).to_be_focused()

    # A focused term keeps the focus as the step changes.
    paragraph = page.locator(".st-key-attention .chart-box > p").nth(2)
    term = paragraph.get_by_role("button", name="annotation")
    term.focus()
    before = paragraph.inner_text()
    page.keyboard.press("ArrowRight")
    expect(paragraph).not_to_have_text(before)
    expect(term).to_be_focused()


def reach(page: Page, key: str, name: str = "") -> None:
    """Go by Tab to the first stop of the part `key`, and there to the one whose name has `name`."""
    visited = []
    for stop in stops(page):
        if stop["key"] == key and name.lower() in stop["name"].lower():
            return
        visited.append(f"{stop['key']} {stop['name'][:30]}")
    pytest.fail(f"Tab does not reach {key} {name}, but {visited[-12:]}")
