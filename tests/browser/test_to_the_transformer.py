"""Page *To the transformer*: every exhibit, by mouse and keyboard, in every window."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from syrupy.assertion import SnapshotAssertion

from tests.browser.conftest import Opener
from tests.browser.contrast import faint
from tests.browser.settled import bring_into_sight, wait_until_idle
from tests.browser.texts import text_of
from tests.browser.views import on_both
from tests.conftest import REPOSITORY
from tests.snapshots import without_numbers

pytestmark = pytest.mark.browser

SENTENCE = "sentence=Two+dogs+play+in+the+snow."
READY = ".st-key-gallery-head button.cell canvas"


def open_exhibit(page: Page, form: str, *, keys: bool = False) -> None:
    """Open the exhibit behind a form of attention, by keys or by the mouse."""
    page.locator(".st-key-form-energies").get_by_role("radio", name=form, exact=True).click()
    button = page.locator(".attention-row .exhibit")
    expect(button).to_have_attribute("aria-expanded", "false")
    if keys:
        button.focus()
        page.keyboard.press("Enter")
    else:
        button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    wait_until_idle(page)


def assert_fits_the_window(page: Page) -> None:
    assert page.evaluate("document.querySelector('.stMain').scrollWidth <= innerWidth")


@pytest.mark.nightly
@on_both
def test_every_exhibit_works_by_keyboard_and_mouse(open_page: Opener, snapshot: SnapshotAssertion) -> None:
    """Open exhibits 2 and 4 by keys in the light theme and by mouse in the dark one, in wide and narrow windows."""
    page = open_page(f"?{SENTENCE}&exhibit=heads&head=cross.2.2", path="transformer", ready=READY)
    wait_until_idle(page)
    expect(page.locator("button.cell")).to_have_count(36)
    keys = page.evaluate("matchMedia('(prefers-color-scheme: light)').matches")
    assert faint(page, more_than=30) == []
    assert_fits_the_window(page)
    opened = page.locator("button.cell[aria-checked='true']")
    expect(opened).to_have_attribute("data-code", "cross.2.2")
    expect(page.locator(".st-key-room-head .verification .badge")).to_contain_text("verified")

    # By the keyboard: another head, then another piece.
    opened.focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"head=cross\.2\.3"))
    wait_until_idle(page)
    expect(page.locator("button.cell[aria-checked='true']")).to_be_focused()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".st-key-room-head")).to_have_attribute("data-step", "1")
    expect(page).to_have_url(re.compile("step-head=2"))

    # By the mouse: a head of the encoder, whose sentence asks itself.
    page.locator("button.cell[data-code='encoder.1.2']").click()
    expect(page).to_have_url(re.compile(r"head=encoder\.1\.2"))
    wait_until_idle(page)
    expect(page.locator(".player .target")).to_have_attribute("lang", "en")
    expect(page.locator(".player .target .word").first).to_have_text("Two")
    for stage in range(1, 5):
        bring_into_sight(page.locator(f".st-key-stage_{stage}-head"))
        expect(page.locator(f".st-key-stage_{stage}-head .katex").first).to_be_visible()
        expect(page.locator(f".st-key-stage_{stage}-head .js-plotly-plot")).to_be_visible()

    open_exhibit(page, "General")
    boxes = page.locator(".energy-decomposition-box")
    expect(boxes).to_have_count(2)
    for box in boxes.all():  # charts outside the window are drawn later
        bring_into_sight(box)
        expect(box.locator(".js-plotly-plot")).to_be_visible(timeout=60_000)
    assert_fits_the_window(page)
    assert faint(page, more_than=30) == []
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".st-key-room-energies")).to_have_attribute("data-step", "1")
    expect(page.locator(".energy-decomposition-box h3").first).to_contain_text("step 2")
    expect(page.locator(".energy-decomposition-box h3").last).to_contain_text("step 2")

    open_exhibit(page, "Dot product", keys=keys)
    if (REPOSITORY / "models" / "detector").exists():
        expect(page.locator(".st-key-heatmap-two .js-plotly-plot")).to_be_visible()
        assert_fits_the_window(page)
        expect(page.locator(".st-key-bag-two .xtitle")).to_have_text("192 units")  # the English alone
        assert faint(page, more_than=30) == []
        text = text_of(page.locator(".st-key-bag-two p"))
        swap = page.get_by_role("button", name="Swap them")
        if keys:
            swap.focus()
            page.keyboard.press("Enter")
        else:
            swap.click()
        expect(page.locator(".st-key-bag-two p")).not_to_have_text(text)
        wait_until_idle(page)
        assert without_numbers(text_of(page.locator(".st-key-bag-two p"))) == snapshot
    else:
        expect(page.locator(".st-key-transformer_problem_exhibit")).to_be_visible()

    open_exhibit(page, "Additive", keys=keys)
    page.wait_for_url(re.compile("exhibit=dot"))  # and has entered the history
    page.get_by_role("button", name="Compare all five models").click()
    page.wait_for_url(re.compile("exhibit=answers"))
    expect(page.locator(".lane")).to_have_count(5)
    assert_fits_the_window(page)
    assert faint(page, more_than=30) == []
    if keys:
        page.locator(".lanes .next").focus()
        page.keyboard.press("End")
    else:
        slider = page.locator(".lanes .at")
        slider.click(position={"x": slider.evaluate("(node) => node.clientWidth - 3"), "y": 6})
    expect(page.locator(".lane .target").last).to_contain_text("</s>")

    page.go_back()
    page.wait_for_url(re.compile("exhibit=dot"))
    expect(page.locator(".st-key-exhibit_dot h2")).to_be_visible()
    wait_until_idle(page)
    assert_fits_the_window(page)
