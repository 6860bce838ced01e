"""Main actions of a visitor on the page *Translate*: type, click, press keys, reload and switch the theme."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from attnviz.ui.examples import DEFAULT_SENTENCE
from tests.browser.views import EXAMPLE, at_night, on_screen, open_settings, parameters_of

pytestmark = pytest.mark.browser

NEW = "Two dogs play in the snow."
Opener = Callable[..., Page]


def heading(page: Page) -> str:
    return page.locator(".st-key-facts h2").inner_text()


def expect_step(page: Page, step: int) -> None:
    """Wait until the browser and the server both show `step`."""
    expect(page.locator(".st-key-facts h2")).to_have_text(re.compile(rf"^Step {step} of \d+$"))
    expect(page.locator("[class*='st-key-room']").first).to_have_attribute("data-step", str(step - 1))
    expect(page.locator(".player .target .current .chosen")).to_have_attribute("data-index", str(step - 1))


def steps(page: Page) -> int:
    return int(heading(page).split()[-1])


def type_sentence(page: Page, text: str) -> None:
    page.locator(".st-key-sentence textarea").fill(text)
    page.keyboard.press("Control+Enter")


def query(page: Page) -> dict[str, str]:
    """Return the parameters of the URL, once all pending choices are written to it."""
    page.wait_for_selector("html:not([data-unwritten])", state="attached")
    return parameters_of(page.url)


def cell(page: Page, row: int, column: int) -> tuple[float, float]:
    """Return the middle of a cell of the heatmap on the screen."""
    return on_screen(page, "heatmap", column, row)


def framed_row(page: Page) -> float:
    """Return the row that the heatmap frames."""
    return float(page.locator(".st-key-heatmap .js-plotly-plot").evaluate("(chart) => chart.layout.shapes[0].y0 + 0.5"))


def test_app_opens_with_a_translated_example(open_page: Opener) -> None:
    page = open_page()
    page.goto(page.url.partition("?")[0])
    expect(page.locator(".st-key-sentence textarea")).to_have_value(DEFAULT_SENTENCE)
    expect_step(page, 3)
    assert page.locator(".player .target .word").count() >= 1
    expect(page.locator(".st-key-status")).to_have_count(0)
    ran = re.compile(r"en-fr \(attention guided\) on \S+ · beam search, width 5")
    open_settings(page)
    expect(page.get_by_test_id("stPopoverBody")).to_contain_text(ran)
    page.keyboard.press("Escape")
    question = page.locator(".st-key-question")
    expect(question.get_by_role("button")).to_have_text([re.compile("“verte”"), re.compile("“maison”")])
    question.get_by_role("button").nth(1).click()
    expect_step(page, 2)
    page.wait_for_url(re.compile(r"step=2"))
    expect(page.get_by_role("img", name=re.compile("^Alignment of"))).to_be_visible()


def test_new_sentence_is_translated_and_starts_at_step_one(open_page: Opener) -> None:
    page = open_page("?step=4")
    expect_step(page, 4)
    type_sentence(page, NEW)
    expect(page.locator(".player .source")).to_contain_text("snow")
    page.keyboard.press("ArrowRight")  # the player handles arrow keys immediately
    expect_step(page, 2)
    expect(page.locator(".st-key-heatmap .xtick").first).to_have_text("Two")
    columns = page.locator(".st-key-heatmap .xtick").count()
    assert columns == page.locator(".player .source .word").count()
    assert page.locator(".st-key-heatmap .ytick").count() == page.locator(".player .target .word").count()
    page.keyboard.press("ArrowLeft")
    expect_step(page, 1)
    assert query(page)["sentence"] == NEW


def test_a_click_on_a_cell_or_a_word_shows_its_step(open_page: Opener) -> None:
    page = open_page()
    row = steps(page) - 2  # the end mark has no row at the level Idea
    page.mouse.click(*cell(page, row, 1))
    expect_step(page, row + 1)
    assert framed_row(page) == row
    page.locator(".player .target .piece").first.click()
    expect_step(page, 1)
    assert framed_row(page) == 0
    page.mouse.click(*cell(page, row, 1))
    expect_step(page, row + 1)


def test_keys_and_slider_move_the_step(open_page: Opener) -> None:
    page = open_page()
    for key, step in (("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        expect_step(page, step)
    assert query(page)["step"] == "2"
    wanted = min(6, steps(page))
    for _ in range(wanted - 2):  # in quick succession
        page.keyboard.press("ArrowRight")
    expect_step(page, wanted)
    page.get_by_role("slider", name="Step").focus()
    page.keyboard.press("ArrowLeft")
    expect_step(page, wanted - 1)
    box = page.locator(".st-key-sentence textarea")
    box.click()
    for key in ("Control+Home", "ArrowRight", "Space"):
        page.keyboard.press(key)
    expect(box).to_have_value(f"{EXAMPLE[0]} {EXAMPLE[1:]}")
    assert heading(page).startswith(f"Step {wanted - 1} of")


@pytest.mark.nightly
def test_keys_move_the_step_after_a_choice_by_mouse(open_page: Opener) -> None:
    page = open_page()
    page.get_by_role("radio", name="words").click()
    expect(page.get_by_role("radio", name="words")).to_be_checked()
    page.keyboard.press("ArrowRight")
    expect_step(page, 2)
    switch = page.get_by_role("switch", name="√α")
    switch.locator("xpath=ancestor::label").click()
    expect(switch).to_be_checked()
    page.keyboard.press("ArrowRight")
    expect_step(page, 3)
    page.keyboard.press("Space")  # the focused switch handles the key
    expect(switch).not_to_be_checked()
    expect(page.get_by_role("button", name="Play")).to_be_visible()


STEPS_TAKEN = """(milliseconds) => new Promise((resolve) => {
  let count = 0;
  document.querySelector(".st-key-room").addEventListener("attnviz:step", () => { count += 1; });
  setTimeout(() => resolve(count), milliseconds);
})"""
"""JavaScript that counts the steps played within a time, which is longer than one step of playback."""


def test_space_plays_and_pauses(open_page: Opener) -> None:
    page = open_page()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator(".st-key-facts h2")).to_have_text(re.compile(r"^Step 3 of"))
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    stopped = int(heading(page).split()[1])
    expect_step(page, stopped)
    assert page.evaluate(STEPS_TAKEN, 1500) == 0


def test_a_reload_opens_the_same_view(open_page: Opener) -> None:
    page = open_page()
    type_sentence(page, NEW)
    expect(page.locator(".player .source")).to_contain_text("snow")
    open_settings(page)
    page.locator(".st-key-search select").select_option(label="beam 3")
    expect(page.locator(".st-key-status")).to_contain_text("beam search, width 3")
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')  # the view comes after the status
    page.keyboard.press("Escape")
    last = steps(page)
    page.locator(".player .target .word").last.click()
    expect_step(page, last)
    shown = page.locator(".player .target").inner_text()
    page.reload()
    expect_step(page, last)
    assert page.locator(".player .target").inner_text() == shown
    expect(page.locator(".st-key-sentence textarea")).to_have_value(NEW)
    expect(page.locator(".st-key-status")).to_contain_text("beam search, width 3")


@pytest.mark.nightly
def test_a_given_translation_is_forced(open_page: Opener) -> None:
    page = open_page(f"?sentence={quote(NEW)}&target={quote('Deux chiens.')}")
    expect(page.locator(".st-key-status")).to_contain_text("given translation")
    expect(page.locator(".player .target")).to_contain_text(re.compile(r"Deux\s*chiens\s*\."))


def test_heading_names_the_word_of_the_current_translation(open_page: Opener) -> None:
    """The attention of the first step, and so its chart, is the same for every translation of a sentence."""
    page = open_page(f"?sentence={quote(NEW)}")
    sentence = page.locator(".st-key-facts p")
    expect(sentence).to_contain_text("the decoder wrote")
    open_settings(page)
    page.locator(".st-key-target textarea").fill("Maison verte.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".st-key-status")).to_contain_text("given translation")
    expect(page.locator(".player .target")).to_contain_text("verte")
    first = page.locator(".player .target .piece").first.inner_text()
    expect(sentence).to_contain_text(f"forced to write “{first}”")


def test_an_example_fills_the_box_and_is_translated(open_page: Opener) -> None:
    page = open_page()
    page.get_by_role("button", name="Examples").click()
    expect(page.locator(".st-key-example_list .kind")).to_have_count(7)
    page.get_by_role("button", name="In 2004, Barack Obama lived in Chicago.").click()
    expect(page.locator(".st-key-sentence textarea")).to_have_value("In 2004, Barack Obama lived in Chicago.")
    expect(page.locator(".player .source")).to_contain_text("Chicago")
    expect(page.locator(".st-key-example_list")).to_have_count(0)  # the box is closed
    page.keyboard.press("ArrowRight")
    expect_step(page, 2)


def test_bad_input_shows_an_error_and_keeps_the_translation(open_page: Opener) -> None:
    page = open_page()
    expect_step(page, 1)
    shown = page.locator(".player .target").inner_text()
    type_sentence(page, "   ")
    expect(page.locator(".st-key-problem")).to_contain_text("is empty")
    expect(page.locator(".player .target")).to_have_text(shown)
    long = "word " * 201
    type_sentence(page, long)
    expect(page.locator(".st-key-problem")).to_contain_text("201 words")
    expect(page.locator(".st-key-sentence textarea")).to_have_value(long)
    expect(page.locator(".player .target")).to_have_text(shown)


WEIRD = (
    "**bold** _it_ `code` # head [a](http://x.org) :red[r] :smile:",
    "$x^2$ \\frac{a}{b} <b>bold</b> &amp; <img src=x onerror=alert(1)>",
    "%{x} <br> ${1+1} {{7*7}} </script><script>alert(1)</script>",
    "🦄 שלום 你好 \u202eabc z̷̢a",
)


@pytest.mark.parametrize("text", [at_night(WEIRD[0]), at_night(WEIRD[1]), WEIRD[2], at_night(WEIRD[3])])
def test_markup_is_shown_as_text(open_page: Opener, text: str) -> None:
    """Every character that the model knows is shown, and creates no HTML element."""
    page = open_page()
    type_sentence(page, text)
    expect(page.locator(".st-key-sentence textarea")).to_have_value(text)
    expect(page.locator(".player .source")).not_to_contain_text("European")
    assert page.locator(".stException").count() == 0
    for selector in (".player b", ".player img", ".player em", ".player a", ".st-key-notice code", ".stMain script"):
        assert page.locator(selector).count() == 0, selector
    ticks = " ".join(page.locator(".st-key-heatmap .xtick").all_text_contents())
    words = page.locator(".player .source .word").all_inner_texts()
    for word in words:
        assert word[:12].strip() in ticks.replace("\xa0", " ") or len(word) > 12, word


LONG = "Two men in blue shirts are playing guitar on a busy street " * 4


@pytest.mark.nightly
def test_wide_heatmap_scrolls_to_the_most_attended_column(open_page: Opener) -> None:
    page = open_page(f"?sentence={quote(LONG.strip())}&step=30", width=390, height=844)
    expect_step(page, 30)
    box = page.locator(".st-key-heatmap .scroll")
    expect(box).to_have_class(re.compile("more-left|more-right"))
    inside = page.wait_for_function(
        """() => {
          const scroll = document.querySelector(".st-key-heatmap .scroll");
          const chart = scroll.querySelector(".chart");
          const axis = chart._fullLayout.xaxis;
          const { step } = document.querySelector(".st-key-room").attnvizView;
          const weights = chart._fullData[0].z[chart.layout.meta.rows[step]];
          const x = axis._offset + axis.c2p(weights.indexOf(Math.max(...weights))) - scroll.scrollLeft;
          return scroll.scrollWidth > scroll.clientWidth && x > 0 && x < scroll.clientWidth;
        }"""
    )
    assert inside.json_value() is True


@pytest.mark.parametrize("dark", [False, at_night(True)])
def test_phone_page_does_not_scroll_sideways(open_page: Opener, dark: bool) -> None:
    page = open_page(width=390, height=844, dark=dark)
    expect_step(page, 1)
    widths = page.evaluate("[document.documentElement.scrollWidth, document.querySelector('.stMain').scrollWidth]")
    assert max(widths) <= 390
    background = page.locator(".stApp").evaluate("(node) => getComputedStyle(node).backgroundColor")
    assert background == ("rgb(23, 23, 26)" if dark else "rgb(251, 250, 246)")
    page.get_by_role("button", name="Next", exact=True).click()
    expect_step(page, 2)


CONTRASTS = """() => {
  const linear = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const brush = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const luminance = (colour) => {
    brush.fillStyle = colour;
    brush.fillRect(0, 0, 1, 1);
    const [r, g, b] = Array.from(brush.getImageData(0, 0, 1, 1).data, linear);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = luminance(getComputedStyle(document.querySelector(".stApp")).backgroundColor);
  return [...document.querySelectorAll(
    ".masthead .title, .masthead .about, .facts h2, .facts p, .facts .title, .facts .outcome, .explanation, .keys, " +
    ".st-key-status p, .st-key-heatmap .xtick text, .st-key-heatmap .ytick text, .st-key-stages h3, " +
    ".st-key-stages h3 .number, .st-key-stages .chart-box > p, .st-key-stages .ytick text, " +
    ".st-key-stages .xtick text, .growth output, .growth legend, .growth label"
  )].map((node) => {
    const style = getComputedStyle(node);
    const ink = luminance(node instanceof SVGElement ? style.fill : style.color);
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  });
}"""


@pytest.mark.parametrize("dark", [False, at_night(True)])
def test_theme_switch_recolours_text_and_charts(open_page: Opener, dark: bool) -> None:
    page = open_page("?step=2", dark=dark)
    expect_step(page, 2)
    tick = page.locator(".st-key-energy .ytick text").first
    before = tick.evaluate("(node) => getComputedStyle(node).fill")
    page.locator("[data-testid=stMainMenu] button").first.click()
    page.get_by_role("menuitemradio", name="Light" if dark else "Dark").click()
    page.keyboard.press("Escape")
    expect(tick).not_to_have_css("fill", before)
    expect(page.locator(".st-key-heatmap .ytick text").first).to_have_css(
        "fill", "rgb(106, 69, 181)" if dark else "rgb(178, 151, 242)"
    )
    expect_step(page, 2)
    # One figure after another is redrawn.
    enough = "all.length > 30 && Math.min(...all) >= 4.5"
    page.wait_for_function(f"() => {{ const all = ({CONTRASTS})(); return {enough}; }}")
