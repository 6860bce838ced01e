"""Marks on words that are likely wrong: each opens a card with the reasons, by mouse, finger and keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from attnviz.ui.examples import EXAMPLES
from tests.browser.settled import settled
from tests.browser.test_page import expect_step
from tests.browser.views import everywhere

pytestmark = pytest.mark.browser
Opener = Callable[..., Page]

BANK, GREETINGS, DEEDS = (f"?sentence={quote(sentence)}" for sentence in EXAMPLES["Mistakes, and why"])


@everywhere
def test_a_mark_opens_its_card_and_leads_to_the_step(open_page: Opener) -> None:
    page = open_page(DEEDS)
    settled(page)
    mark, card = page.locator(".player .suspect"), page.locator(".player .reasons")
    expect(mark).to_have_count(1)
    box = mark.bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) >= 24
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    for _ in range(2):
        mark.click()
        expect(card).to_be_visible()
        expect(card.locator("dt")).to_have_count(4)
        mark.click()
        expect(card).to_be_hidden()
    assert requests == []
    mark.click()
    card.get_by_role("button", name=re.compile("Show step")).click()
    expect_step(page, 25)
    page.locator(".player .source .word").last.click(position={"x": 2, "y": 2})
    expect(card).to_be_hidden()


def test_unread_words_are_struck_through_while_their_card_is_open(open_page: Opener) -> None:
    page = open_page(GREETINGS)
    settled(page)
    mark, unread = page.locator(".player .source .suspect"), page.locator(".player .source .unread")
    expect(unread).to_have_count(0)
    mark.click()
    expect(unread).to_have_text(["night", ".", "Sleep", "well", ".", "Good-bye"])
    page.keyboard.press("Escape")
    expect(unread).to_have_count(0)


def test_keyboard_opens_a_card_and_takes_another_hypothesis(open_page: Opener) -> None:
    page = open_page(BANK)
    settled(page)
    page.locator(".player .target .current").focus()
    page.keyboard.press("Tab")
    mark = page.locator(".player .suspect")
    expect(mark).to_be_focused()
    page.keyboard.press("Enter")
    card = page.locator(".player .reasons")
    expect(card).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(mark).to_be_focused()
    page.keyboard.press("Space")
    take = card.get_by_role("button", name="Take this translation")
    for _ in range(3):
        page.keyboard.press("Tab")
    expect(take).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".player .target")).to_have_text(re.compile("banlieue"))
    expect(card).to_be_hidden()
    page.locator(".what_ifs .undo").click()
    expect(page.locator(".player .target")).to_have_text(re.compile("banque"))
    expect(page.locator(".player .suspect")).to_have_count(1)


def test_a_right_translation_has_no_marks(open_page: Opener) -> None:
    page = open_page("")
    settled(page)
    expect(page.locator(".player .suspect")).to_have_count(0)
