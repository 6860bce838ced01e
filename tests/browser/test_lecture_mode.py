"""Lecture mode: switched on and off by key, mouse and link, without changing the state of the page."""

import re

import pytest
from playwright.sync_api import Page, expect

from attnviz.ui.examples import DEFAULT_SENTENCE
from tests.browser.settled import settled, wait_until_idle
from tests.browser.test_languages import switch
from tests.browser.test_page import expect_step
from tests.browser.views import EXAMPLE

TOOLBAR, TITLE, MENU = ".st-key-tools", ".masthead .title", ".stAppHeader"
HEATMAP = "document.querySelector('.st-key-heatmap .js-plotly-plot')"
HEIGHT = f"({HEATMAP}._fullLayout.yaxis._offset + {HEATMAP}._fullLayout.yaxis._length)"
"""JavaScript for where the last row of the heatmap ends, in pixels from its top, once that is laid out."""
LETTERS = "parseFloat(getComputedStyle(document.documentElement).fontSize)"


def expect_on(page: Page, *hidden: str) -> None:
    """Wait until lecture mode is on, without the elements `hidden`, and the URL stores lecture mode."""
    expect(page.locator("html")).to_have_attribute("data-lecture", "")
    for name in (TITLE, MENU, *hidden):
        expect(page.locator(name).first).to_be_hidden()
    page.wait_for_url(re.compile("[#&]lecture=1"))
    expect(page.locator(".lecture .leave")).to_be_visible()


def expect_off(page: Page, *visible: str) -> None:
    """Wait until lecture mode is off, and the elements `visible` are shown."""
    expect(page.locator("html:not([data-lecture])")).to_have_count(1)
    for name in (TITLE, MENU, *visible):
        expect(page.locator(name).first).to_be_visible()
    page.wait_for_url(lambda url: "lecture=" not in url)
    expect(page.locator(".lecture .leave")).to_be_hidden()


def test_keys_control_lecture_mode(open_page) -> None:
    page = open_page("?step=2&depth=numbers")
    settled(page, ".st-key-candidates")
    letters, height = page.evaluate(LETTERS), page.evaluate(HEIGHT)
    sentence = page.locator(".st-key-sentence textarea")
    sentence.press("l")  # typed, not asked for
    expect_off(page, TOOLBAR)
    sentence.press("Backspace")
    page.locator(".facts h2").click()
    page.locator(".st-key-stage_5").scroll_into_view_if_needed()
    expect(page.locator(".player .bar")).to_be_visible()
    page.keyboard.press("l")
    expect_on(page, TOOLBAR)
    head, chart = (page.locator(f".st-key-heatmap {name}").first.bounding_box() for name in (".head", ".chart"))
    assert head["y"] == chart["y"], "the copies of the names lie on the names, also where the page was scrolled"
    window = page.viewport_size
    assert page.evaluate(LETTERS) == pytest.approx(min(0.015 * window["width"], 0.025 * window["height"]))
    page.wait_for_function(f"() => {HEIGHT} > {1.1 * height}")
    expect_step(page, 2)
    last = int(page.locator(".facts h2").inner_text().split()[-1])
    for key, step in (("PageDown", 3), ("PageDown", 4), ("PageUp", 3), ("ArrowLeft", 2), ("End", last), ("Home", 1)):
        page.keyboard.press(key)
        expect_step(page, step)
    page.keyboard.press("?")
    expect(page.locator(".opened:popover-open .keys")).to_be_in_viewport()
    page.keyboard.press("?")
    expect(page.locator(".opened:popover-open")).to_have_count(0)
    black = page.locator(".lecture .black")
    for key in ("b", "."):
        page.keyboard.press(key)
        expect(black).to_be_visible()
        page.keyboard.press("PageDown")  # brings the page back, and does nothing else
        expect(black).to_be_hidden()
    expect_step(page, 1)
    switch(page, "fr")
    expect_on(page, TOOLBAR)
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".lecture .leave")).to_contain_text("Quitter le mode présentation")
    page.keyboard.press("ArrowDown")  # holds a source piece, which Escape releases first
    expect(page.locator(".player .source .held")).not_to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator(".player .source .held")).to_have_count(0)
    expect_on(page, TOOLBAR)
    page.keyboard.press("Escape")
    expect_off(page, TOOLBAR)
    assert page.evaluate(LETTERS) == letters
    page.wait_for_function(f"() => Math.abs({HEIGHT} - {height}) < 2")
    expect(sentence).to_have_value(EXAMPLE)

    # By the mouse, near which the controls appear, and on another page.
    page.locator(".st-key-lecture_mode button").first.click()
    expect_on(page, TOOLBAR)
    controls = page.locator(".st-key-masthead")
    for height, opacity in ((500, "0"), (300, "1")):
        page.mouse.move(300, height)
        expect(controls).to_have_css("opacity", opacity)
    page.locator(".page-links a[data-page='why']").click()
    page.wait_for_url(re.compile("/why"))
    expect_on(page, ".st-key-why_sentence")
    page.go_back()
    expect_on(page, TOOLBAR)
    page.locator(".lecture .leave").click()
    expect_off(page, TOOLBAR)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("level", "width", "height"),
    [("idea", 1280, 720), ("numbers", 1280, 720), ("idea", 1920, 1080), ("idea", 1024, 768)],
)
def test_one_key_shows_each_picture_alone_in_one_screen(open_page, level: str, width: int, height: int) -> None:
    page = open_page(f"?depth={level}&lecture=1&sentence={DEFAULT_SENTENCE}", width=width, height=height)
    wait_until_idle(page)
    stages = [f".st-key-stage_{n} .chart" for n in range(1, 6)]
    if level == "idea":
        stages[:3] = [".st-key-one_picture .chart"] * 3
    pictures = (".st-key-heatmap .chart", ".st-key-diagram .drawing", *stages)
    for picture in (*pictures, pictures[0]):
        if picture == pictures[1]:
            expect(page.locator(".diagram .run")).to_be_in_viewport(ratio=1)
        shown = page.locator(picture).locator("visible=true").last
        expect(shown).to_be_visible()
        for other in pictures:
            if other != picture:
                expect(page.locator(other).locator("visible=true")).to_have_count(0)
        wait_until_idle(page)
        box = shown.bounding_box()
        assert box["y"] + box["height"] <= height, (picture, box)
        assert box["x"] + box["width"] <= width, (picture, box)
        page.keyboard.press("s")
