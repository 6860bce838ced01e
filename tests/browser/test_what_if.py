"""What-ifs: added, selected and removed by mouse and keyboard, stored in URLs and exported files."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from syrupy.assertion import SnapshotAssertion

from attnviz.trace import WhatIfs
from attnviz.trace.interventions import ExcludePosition, Temperature, to_json_dict
from tests.browser.settled import settled
from tests.browser.test_exports import fetch, open_downloads, open_trace
from tests.browser.test_page import expect_step, query
from tests.browser.texts import text_of
from tests.browser.views import NARROW, WIDE_DARK, everywhere, on_both, within
from tests.what_if_links import link, only

pytestmark = pytest.mark.browser

Opener = Callable[..., Page]
SENTENCE = "The green house at the end of the street is very old."
AT_STEP_3 = "?sentence=The+green+house+at+the+end+of+the+street+is+very+old.&step=3"
ONLY_GREEN = only(14, 2, 1)
HOT = Temperature(5.0)
COLD = link(ONLY_GREEN, Temperature(0.5))


_WRITTEN = """
(node) => [...node.childNodes].filter((one) => one.nodeName !== "DEL")
  .map((one) => one.textContent.trim()).filter(Boolean)
"""


def dispatch_change(page: Page, intervention: dict[str, Any]) -> None:
    """Request a what-if with the event that the page's controls dispatch."""
    script = '(room, detail) => room.dispatchEvent(new CustomEvent("attnviz:try", { detail }))'
    page.locator(".st-key-room").evaluate(script, {"intervention": intervention, "held": False})


def cards(page: Page) -> Locator:
    return page.locator(".what_ifs .card")


def expect_shown(page: Page, number: int, count: int) -> None:
    """Wait until card `number` of `count` is current, and the whole page shows it."""
    expect(cards(page)).to_have_count(count)
    if count:
        expect(cards(page).nth(number)).to_have_attribute("aria-current", "true")
        written = cards(page).nth(number).locator(".text").evaluate(_WRITTEN)
        expect(page.locator(".player .target")).to_have_text(re.compile(r"\s*".join(map(re.escape, written))))
    expect(page.locator(".what_ifs [aria-busy]")).to_have_count(0)


@everywhere
def test_what_ifs_are_added_selected_and_removed(open_page: Opener) -> None:
    page = open_page(AT_STEP_3)
    settled(page)
    expect_shown(page, 0, 0)
    expect(page.locator(".what_ifs")).to_be_hidden()
    dispatch_change(page, to_json_dict(ONLY_GREEN))
    expect_shown(page, 1, 2)
    expect_step(page, 3)
    expect(cards(page).nth(1)).to_contain_text("Step 3 looks only at “green”")
    page.wait_for_url(re.compile(f"what_ifs={link(ONLY_GREEN)}&what_if=1"))
    cards(page).nth(0).click()
    expect_shown(page, 0, 2)
    expect_step(page, 3)
    dispatch_change(page, to_json_dict(HOT))
    expect_shown(page, 2, 3)
    assert cards(page).nth(2).locator("mark, del").count() > 0, "differences are marked"
    expect(page.locator(".st-key-status")).to_contain_text("what-if 2")
    box = page.locator(".what_ifs ol").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= page.viewport_size["width"]
    page.get_by_role("button", name="Remove what-if 1").click()
    expect_shown(page, 1, 2)
    page.get_by_role("button", name="Remove what-if 1").click()
    expect_shown(page, 0, 0)
    page.wait_for_url(lambda url: "what_if" not in url)
    expect(page.locator(".what_ifs")).to_be_hidden()


@pytest.mark.nightly
@on_both
def test_what_ifs_are_selected_and_removed_by_keyboard(open_page: Opener) -> None:
    page = open_page(f"{AT_STEP_3}&what_ifs={link(ONLY_GREEN, HOT)}&what_if=2")
    settled(page)
    expect_shown(page, 2, 3)
    page.locator(".player .next").last.focus()
    while not page.evaluate("() => document.activeElement.shadowRoot?.activeElement?.matches('.card')"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect_shown(page, 0, 3)
    expect(cards(page).nth(0)).to_be_focused()
    page.keyboard.press("Tab")
    expect(cards(page).nth(1)).to_be_focused()
    page.keyboard.press("Space")
    expect_shown(page, 1, 3)
    expect_step(page, 3)
    page.keyboard.press("ArrowRight")
    expect_step(page, 4)
    page.keyboard.press("Delete")
    expect_shown(page, 0, 2)
    expect(cards(page).nth(1)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect_shown(page, 0, 0)


@within(NARROW)
def test_url_and_history_store_every_what_if(open_page: Opener) -> None:
    page = open_page(AT_STEP_3)
    settled(page)
    page.wait_for_function("() => history.state?.attnvizEntry")
    first = page.locator(".player .target").inner_text()
    dispatch_change(page, to_json_dict(ONLY_GREEN))
    expect_shown(page, 1, 2)
    green = page.locator(".player .target").inner_text()
    dispatch_change(page, to_json_dict(HOT))
    expect_shown(page, 2, 3)
    page.wait_for_url(re.compile("what_if=2"))
    left, card_texts = query(page), cards(page).all_inner_texts()
    page.go_back()
    expect_shown(page, 1, 2)
    expect(page.locator(".player .target")).to_have_text(green, use_inner_text=True)
    expect_step(page, 3)
    page.go_back()
    expect_shown(page, 0, 0)
    expect(page.locator(".player .target")).to_have_text(first, use_inner_text=True)
    page.go_forward()
    expect_shown(page, 1, 2)
    page.go_forward()
    expect_shown(page, 2, 3)
    page.reload()
    expect_shown(page, 2, 3)
    assert cards(page).all_inner_texts() == card_texts
    page.wait_for_url(re.compile("what_if=2"))
    assert query(page) == left


@pytest.mark.nightly
@within(WIDE_DARK)
def test_what_ifs_survive_language_switches(open_page: Opener) -> None:
    page = open_page(f"{AT_STEP_3}&what_ifs={COLD}&what_if=1")
    settled(page)
    expect_shown(page, 1, 3)
    card_texts = cards(page).all_inner_texts()
    page.locator(".st-key-lang").get_by_text("fr", exact=True).click()
    expect(cards(page).nth(1)).to_contain_text("L’étape 3 ne regarde que « green »")
    expect(cards(page).nth(2)).to_contain_text("Température 0,5 à chaque étape")
    expect(cards(page).nth(1)).to_contain_text("log p/mot −0,")
    expect_shown(page, 1, 3)
    page.locator(".st-key-lang").get_by_text("en", exact=True).click()
    expect(cards(page).nth(1)).to_contain_text("Step 3 looks only at")
    assert cards(page).all_inner_texts() == card_texts
    assert query(page)["what_ifs"] == COLD


@pytest.mark.nightly
def test_invalid_what_ifs_show_an_error(open_page: Opener, snapshot: SnapshotAssertion) -> None:
    page = open_page(f"{AT_STEP_3}&what_ifs={link(ExcludePosition(1, 98))}&what_if=7")
    settled(page)
    problem = page.locator(".st-key-what_if_problem")
    expect(problem).to_be_visible()
    message = problem.inner_text()
    assert message.splitlines() == snapshot(name="in a link")
    page.wait_for_url(lambda url: "what_if" not in url)
    dispatch_change(page, {"kind": "typed", "step": 1, "text": "北京"})
    expect(problem).not_to_have_text(message, use_inner_text=True)
    expect(problem).to_contain_text("北京")
    assert text_of(problem) == snapshot(name="never seen")
    dispatch_change(page, {"kind": "typed", "step": 1, "text": "rue"})
    expect_shown(page, 1, 2)
    expect(problem).to_have_count(0)
    expect(page.locator(".player .target")).to_contain_text(re.compile(r"La\s*rue"))


@pytest.mark.nightly
@on_both
def test_exported_files_contain_the_what_ifs(open_page: Opener, chromium: Browser, tmp_path: Path) -> None:
    page = open_page(f"{AT_STEP_3}&what_ifs={link(ONLY_GREEN, HOT)}&what_if=2")
    settled(page)
    expect_shown(page, 2, 3)
    card_texts, hot = cards(page).all_inner_texts(), page.locator(".player .target").inner_text()
    open_downloads(page)
    trace, saved = fetch(page, "Whole trace, JSON", tmp_path), fetch(page, "Web page for a lecture, HTML", tmp_path)
    assert len(WhatIfs.load(trace).what_ifs) == 2
    page.keyboard.press("Escape")
    page.goto(page.url.partition("?")[0] + "?depth=everything")
    settled(page)
    open_trace(page, trace)
    expect_shown(page, 0, 3)
    assert cards(page).all_inner_texts() == card_texts
    cards(page).nth(2).click()
    expect_shown(page, 2, 3)
    expect(page.locator(".player .target")).to_have_text(hot, use_inner_text=True)
    page.get_by_role("button", name="Back to the sentence above").click()
    expect_shown(page, 0, 0)
    slides = chromium.new_page(viewport=page.viewport_size)
    slides.goto(saved.as_uri())
    expect_shown(slides, 2, 3)
    slides.keyboard.press("ArrowRight")
    expect(slides.locator(".st-key-facts h2")).to_contain_text("Step 4 of")
    cards(slides).nth(1).press("Enter")
    expect(cards(slides).nth(1)).to_have_attribute("aria-current", "true")
    expect(slides.locator(".st-key-facts h2")).to_contain_text("Step 4 of")
    cards(slides).nth(2).click()
    expect(slides.locator(".player .target")).to_have_text(hot, use_inner_text=True)
    slides.close()
