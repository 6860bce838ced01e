"""URL, history, and actions faster than the server: Back, other pages and races lose no choice."""

import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Route, expect

from tests.browser.server import READY
from tests.browser.settled import go_to_page, settled
from tests.browser.test_page import NEW, expect_step, query
from tests.browser.views import COUNT_MESSAGES, EXAMPLE, on_both, open_share

CHOSEN = {"by": "words", "face": "after", "colours": "cividis", "root": "1", "end": "0", "margins": "1"}
CHOSEN["order"] = "strongest"

DRAWN = """() => {
  const chart = (key) => document.querySelector(`.st-key-${key} .js-plotly-plot`);
  const { data, layout } = chart("heatmap");
  return { columns: layout.xaxis.ticktext, rows: layout.yaxis.ticktext, scale: data[0].colorscale,
    pictures: data.length, order: Array.from(chart("softmax").data[0].y) };
}"""
"""JavaScript for the parts of the heatmap and the stages that the choices change."""


def test_url_stores_every_display_option_and_can_be_copied(open_page) -> None:
    page = open_page()
    settled(page)
    page.get_by_role("radio", name="words").click()
    page.wait_for_url(re.compile("by=words"))
    for name, parameter in (("√α", "root=1"), ("End mark", "end=0"), ("Margins", "margins=1")):
        page.get_by_role("switch", name=name).locator("xpath=ancestor::label").click()
        page.wait_for_url(re.compile(parameter))
    page.keyboard.press("ArrowRight")  # a control that was clicked leaves the arrow keys to the player
    expect_step(page, 2)
    page.keyboard.press("b")
    expect(page.locator(".st-key-face [aria-checked=true]")).to_have_text("After the word")
    page.get_by_text("strongest first").click()
    page.wait_for_url(re.compile("order=strongest"))
    settled(page)
    page.locator(".st-key-colours select").select_option(label="Cividis, safe for colour blindness")
    page.wait_for_url(re.compile("colours=cividis"))
    chosen = CHOSEN | {"sentence": EXAMPLE, "depth": "everything", "step": "2"}
    assert query(page) == chosen
    page.wait_for_function("() => document.querySelector('.st-key-heatmap .js-plotly-plot').data.length === 3")
    page.wait_for_function(
        "() => document.querySelector('.st-key-heatmap .js-plotly-plot').data[0].colorscale[0][1] !== '#000000'"
    )
    before = page.evaluate(DRAWN)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_share(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    assert page.evaluate("() => navigator.clipboard.readText()") == page.url
    page.reload()
    page.wait_for_function("() => document.querySelector('.st-key-heatmap .js-plotly-plot')?.data?.length === 3")
    page.wait_for_function("() => document.querySelector('.st-key-softmax .js-plotly-plot')?.data")
    assert page.evaluate(DRAWN) == before
    assert query(page) == chosen


def test_steps_display_options_and_boxes_send_no_message_to_the_server(open_page) -> None:
    page = open_page("?step=1")
    settled(page)
    page.evaluate(COUNT_MESSAGES)
    for number in range(2, 8):
        page.keyboard.press("ArrowRight")
        expect_step(page, number)
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


@on_both
def test_typed_sentence_is_on_every_page_and_back_restores_the_one_before(open_page) -> None:
    page = open_page("?step=3&depth=numbers")
    box = page.locator(".st-key-sentence textarea")
    for name in ("Why attention?", "Translate", "Lab", "Translate"):  # the first click of a visit
        left = page.url
        go_to_page(page, name)
    page.go_back()
    page.wait_for_url(left)
    go_to_page(page, "Translate")
    expect(box).to_have_value(EXAMPLE)
    expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 3 "))
    expect(page.locator(".st-key-depth [aria-checked=true]")).to_have_text("Numbers")
    for number, way in enumerate(("Why attention?", "To the transformer", "Translate")):
        box.fill(text := f"Dog {number} runs.")
        go_to_page(page, way)
        expect(page).to_have_url(re.compile(re.escape(quote_plus(text))))
        expect(box).to_have_value(text)


RELOAD_THEN_TRANSLATE = """async (text) => {
  location.reload();
  document.querySelector(".st-key-translate button").click();
  while (!location.search.includes(text)) await new Promise((resolve) => setTimeout(resolve, 20));
  return history.length;
}"""


@pytest.mark.nightly
def test_reload_keeps_a_sentence_that_was_handled_after_the_reload_began(open_page) -> None:
    page = open_page("?margins=1")
    held: list[Route] = []
    # The page is answered late, and goes on meanwhile.
    page.route(page.url.partition("#")[0], lambda route: held.append(route))
    box = page.locator(".st-key-sentence textarea")
    box.fill(NEW)
    before = page.evaluate(RELOAD_THEN_TRANSLATE, quote_plus(NEW))
    with page.expect_event("load"):
        held[0].continue_()
    page.wait_for_selector(READY)
    expect(box).to_have_value(NEW)
    expect(page).to_have_url(re.compile(f"{re.escape(quote_plus(NEW))}.*margins=1"))
    assert page.evaluate("history.length") == before
