"""Main actions of a visitor on the page *Translate*: type, click, press keys, reload and switch the theme."""

import re

import pytest
from playwright.sync_api import Page, expect

from attnviz.ui.examples import DEFAULT_SENTENCE
from tests.browser.settled import settled, wait_until_still
from tests.browser.test_accessibility import BOX, close_box
from tests.browser.test_axe import violations
from tests.browser.views import EXAMPLE, at_night, on_screen, open_settings, parameters_of

NEW = "Two dogs play in the snow."


def heading(page: Page) -> str:
    return page.locator(".st-key-facts h2").inner_text()


def expect_step(page: Page, step: int) -> None:
    """Wait until the browser and the server both show `step`."""
    expect(page.locator(".st-key-facts h2")).to_have_text(re.compile(rf"^Step {step} of \d+$"))
    expect(page.locator("[class*='st-key-room']").first).to_have_attribute("data-step", str(step - 1))
    expect(page.locator(".player .target .current .chosen")).to_have_attribute("data-index", str(step - 1))


def steps(page: Page) -> int:
    return int(heading(page).split()[-1])


def type_sentence(page: Page, text: str, shown: str = "") -> None:
    """Translate a sentence; wait until the player has the word `shown`, if one is given."""
    page.locator(".st-key-sentence textarea").fill(text)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".player .source")).to_contain_text(shown)


def query(page: Page) -> dict[str, str]:
    """Return the parameters of the URL, once all pending choices are written to it."""
    page.wait_for_selector("html:not([data-unwritten])", state="attached")
    return parameters_of(page.url)


def framed_row(page: Page) -> float:
    return float(page.locator(".st-key-heatmap .js-plotly-plot").evaluate("(chart) => chart.layout.shapes[0].y0 + 0.5"))


MARKUP = "%{x} <br> ${1+1} {{7*7}} </script><script>alert(1)</script>"
EXAMPLE_BUTTON = "In 2004, Barack Obama lived in Chicago."


def test_first_visit_from_the_question_to_own_sentences_and_an_example(open_page) -> None:
    page = open_page(None)
    box, source = page.locator(".st-key-sentence textarea"), page.locator(".player .source")
    expect(box).to_have_value(DEFAULT_SENTENCE)
    expect_step(page, 3)
    expect(page.locator(".st-key-status")).to_have_count(0)
    question = page.locator(".st-key-question").get_by_role("button")
    expect(question).to_have_text([re.compile("“verte”"), re.compile("“maison”")])
    question.nth(1).click()
    expect_step(page, 2)
    page.wait_for_url(re.compile(r"step=2"))

    # A sentence of one's own: Shift+Enter begins a line, Enter translates and gives the keys to the player.
    box.fill("We eat.")
    box.press("Shift+Enter")
    expect(box).to_have_value("We eat.\n")
    expect(source).not_to_contain_text("eat")
    box.fill(NEW)
    box.press("Enter")
    expect(source).to_contain_text("snow")
    expect(page.locator(".st-key-translate button")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect_step(page, 2)
    assert query(page)["sentence"] == NEW
    expect(page.locator(".st-key-heatmap .xtick").first).to_have_text("Two")

    # Markup is shown as text, and makes no element.
    type_sentence(page, MARKUP, "script")
    expect(box).to_have_value(MARKUP)
    for selector in (".stException", ".player b", ".player br", ".st-key-notice code", ".stMain script"):
        expect(page.locator(selector)).to_have_count(0)

    page.get_by_role("button", name="Examples").click()
    expect(page.locator(".st-key-example_list .kind")).to_have_count(7)
    page.get_by_role("button", name=EXAMPLE_BUTTON).click()
    expect(box).to_have_value(EXAMPLE_BUTTON)
    expect(source).to_contain_text("Chicago")
    expect(page.locator(".st-key-example_list")).to_have_count(0)  # the box is closed


def test_step_is_chosen_by_keys_slider_cells_and_words_and_played(open_page) -> None:
    page = open_page()
    for key, step in (("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2), ("End", steps(page)), ("Home", 1)):
        page.keyboard.press(key)
        expect_step(page, step)
    for _ in range(5):  # in quick succession
        page.keyboard.press("ArrowRight")
    expect_step(page, 6)
    assert query(page)["step"] == "6"
    page.get_by_role("slider", name="Step", exact=True).focus()
    page.keyboard.press("ArrowLeft")
    expect_step(page, 5)
    row = steps(page) - 2
    page.mouse.click(*on_screen(page, "heatmap", 1, row))
    expect_step(page, row + 1)
    assert framed_row(page) == row
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator(".st-key-facts h2")).to_have_text(re.compile(r"^Step 3 of"))
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    stopped = int(heading(page).split()[1])

    box = page.locator(".st-key-sentence textarea")
    box.click()
    for key in ("Control+Home", "ArrowRight", "Space", "b"):  # the keys of the page are the letters of the box
        page.keyboard.press(key)
    expect(box).to_have_value(f"{EXAMPLE[0]} b{EXAMPLE[1:]}")
    assert heading(page).startswith(f"Step {stopped} of")


def test_reload_keeps_search_step_and_given_translation(open_page) -> None:
    page = open_page(f"?sentence={NEW}")
    status, french = page.locator(".st-key-status"), page.locator(".player .target")
    expect(page.locator(".st-key-facts p")).to_contain_text("the decoder wrote")
    open_settings(page)
    page.locator(".st-key-search select").select_option(label="beam 3")
    expect(status).to_contain_text("beam search, width 3")
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')  # the view comes after the status
    page.keyboard.press("Escape")
    last = steps(page)
    page.locator(".player .target .word").last.click()
    expect_step(page, last)
    shown = french.inner_text()
    page.reload()
    expect_step(page, last)
    expect(french).to_have_text(shown, use_inner_text=True)
    expect(page.locator(".st-key-sentence textarea")).to_have_value(NEW)
    expect(status).to_contain_text("beam search, width 3")

    open_settings(page)
    page.locator(".st-key-target textarea").fill("Maison verte.")
    page.keyboard.press("Control+Enter")
    expect(status).to_contain_text("given translation")
    expect(french).to_contain_text("verte")
    # The attention of the first step, and so its chart, is the same for every translation of a sentence.
    first = page.locator(".player .target .piece").first.inner_text()
    expect(page.locator(".st-key-facts p")).to_contain_text(f"forced to write “{first}”")
    page.reload()
    expect(french).to_contain_text("verte")


CLASHES = """
() => {
  const box = (node) => node.getBoundingClientRect();
  const name = (node) => (node.ariaLabel || node.textContent).trim().slice(0, 40) || node.className;
  const controls = [...document.querySelectorAll("button, input[type=range], select, a[href], summary")]
    .filter((node) => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) &&
      box(node.parentElement).width > 1 && !node.closest("[aria-hidden=true]"));
  const crossed = controls.flatMap((one, k) => controls.slice(k + 1).filter((other) => {
    const [a, b] = [box(one), box(other)];
    return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2 &&
      !one.contains(other) && !other.contains(one) &&
      ![one, other].some((node) => node.closest(".stAppHeader, .bar"));
  }).map((other) => `${name(one)} / ${name(other)}`));
  const beyond = controls.filter((node) => box(node).right > innerWidth + 1 || box(node).left < -1).map(name);
  return { crossed, beyond };
}
"""
"""Controls that overlap, but for those in bars that stay in place, and those that leave the window at a side."""
CUT_TEXTS = """
() => [...document.querySelectorAll(
  ".transport button, .growth button, .growth label, .facts button, .st-key-lang button"
)].filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.textContent)
"""


@pytest.mark.parametrize("lang", ["fr", at_night("en")])
def test_controls_on_a_phone_are_apart_large_enough_and_hold_their_texts(open_page, lang: str) -> None:
    page = open_page(f"?lang={lang}", width=390, height=844)
    settled(page)
    widths = page.evaluate("[document.documentElement.scrollWidth, document.querySelector('.stMain').scrollWidth]")
    assert max(widths) <= 390
    assert page.evaluate(CLASHES) == {"crossed": [], "beyond": []}
    assert page.evaluate(CUT_TEXTS) == []
    assert violations(page) == []
    for box in ("examples", "more", "glossary"):
        page.locator(f".st-key-{box} button").first.click()
        wait_until_still(page.locator(BOX))
        assert violations(page, BOX) == [], box
        assert page.evaluate(CLASHES)["beyond"] == [], box  # an open box covers the page
        close_box(page)


@pytest.mark.parametrize("dark", [False, at_night(True)])
def test_theme_switch_recolours_text_and_charts(open_page, dark: bool) -> None:
    page = open_page("?step=2&depth=numbers", dark=dark)
    expect_step(page, 2)
    tick = page.locator(".st-key-energy .ytick text").first
    expect(tick).to_have_css("fill", "rgb(112, 200, 152)" if dark else "rgb(35, 119, 74)")
    page.locator("[data-testid=stMainMenu] button").first.click()
    page.get_by_role("menuitemradio", name="Light" if dark else "Dark").click()
    page.keyboard.press("Escape")
    expect(tick).to_have_css("fill", "rgb(35, 119, 74)" if dark else "rgb(112, 200, 152)")
    purple = "rgb(106, 69, 181)" if dark else "rgb(178, 151, 242)"
    expect(page.locator(".st-key-heatmap .ytick text").first).to_have_css("fill", purple)
    expect_step(page, 2)
    settled(page, ".st-key-energy")
