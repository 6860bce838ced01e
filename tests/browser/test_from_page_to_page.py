"""Navigation between pages: typed text and choices persist, also when the visitor leaves immediately."""

from __future__ import annotations

import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.browser.settled import WAYS, go_to_page, on_page, settled
from tests.browser.views import EXAMPLE, at_night, on_a_telephone, on_both

pytestmark = pytest.mark.browser

CHOSEN = "[aria-checked=true]"


LEAVE_BUSY = """async ([number, unit]) => {
  const soon = (milliseconds) => new Promise((then) => setTimeout(then, milliseconds));
  document.querySelectorAll(".st-key-example_list button")[number].click();
  await soon(60);
  [...document.querySelectorAll(".st-key-by [role=radio]")].find((one) => one.innerText === unit).click();
  await soon(60);
  [...document.querySelectorAll(".page-links a")].find((one) => one.innerText === "Lab").click();
}"""
"""Have the server translate an example, choose a unit of the rows once it does, and leave."""


SLOW_LINE = """
const listen = WebSocket.prototype.addEventListener;
WebSocket.prototype.addEventListener = function (kind, heard, ...more) {
  const hear = (event) => window.late ? window.late.push(() => heard.call(this, event)) : heard.call(this, event);
  listen.call(this, kind, kind === "message" ? hear : heard, ...more);
};
window.arrive = () => {
  const late = window.late;
  window.late = null;
  for (const arrive of late) arrive();
};"""
"""Delay server messages in the list `late`, if it exists, until `arrive` is called."""


@on_both
@pytest.mark.parametrize("first", ["Why attention?", at_night("To the transformer"), at_night("Lab")])
def test_first_click_of_a_visit_opens_another_page(open_page: Opener, first: str) -> None:
    page = open_page()
    box = page.locator(".st-key-sentence textarea")
    for name in (first, "To the transformer", "Why attention?", "Translate", first, "Translate"):
        go_to_page(page, name)
        if name != "Lab":
            expect(box).to_have_value(EXAMPLE)
    expect(page.locator(".st-key-depth").locator(CHOSEN)).to_have_text("Everything")


@pytest.mark.nightly
def test_chart_options_persist_across_pages(open_page: Opener) -> None:
    page = open_page()
    go_to_page(page, "Lab")
    page.get_by_role("radio", name="Attributions").click()
    expect(page.locator(".st-key-by").locator(CHOSEN)).to_have_text("steps")
    page.locator(".st-key-by").get_by_role("radio", name="words").click()
    go_to_page(page, "Translate")
    expect(page.locator(".st-key-by").locator(CHOSEN)).to_have_text("words")
    page.locator(".st-key-root label").click()
    go_to_page(page, "Lab")
    expect(page.locator(".st-key-by").locator(CHOSEN)).to_have_text("words")
    go_to_page(page, "Translate")
    expect(page.locator(".st-key-by").locator(CHOSEN)).to_have_text("words")
    expect(page.locator(".st-key-root input")).to_be_checked()


@on_both
def test_typed_sentence_survives_immediate_navigation(open_page: Opener) -> None:
    page = open_page()
    box = page.locator(".st-key-sentence textarea")
    ways = ("Why attention?", "To the transformer", "Translate", "To the transformer", "Why attention?", "Translate")
    for number, way in enumerate(ways):
        text = f"Dog {number} runs."
        box.fill(text)
        go_to_page(page, way)
        expect(page).to_have_url(re.compile(re.escape(quote_plus(text))))
        expect(box).to_have_value(text)


@pytest.mark.nightly
def test_typed_sentence_survives_navigation_while_the_server_is_busy(open_page: Opener) -> None:
    page = open_page()
    box = page.locator(".st-key-sentence textarea")
    for number, way in enumerate(("Lab", "Translate", "Why attention?", "Translate")):
        if way != "Translate":
            box.fill(f"Cat {number} is asleep, as it is every day.")
            box.press("Control+Enter")
            box.fill(f"Dog {number} runs.")
        go_to_page(page, way)
    expect(box).to_have_value("Dog 2 runs.")


@pytest.mark.nightly
def test_chart_option_survives_navigation_while_the_server_is_busy(open_page: Opener) -> None:
    page = open_page()
    go_to_page(page, "Lab")
    page.get_by_role("radio", name="Attributions").click()
    units = page.locator(".st-key-by")
    expect(units.locator(CHOSEN)).to_have_text("steps")
    go_to_page(page, "Translate")
    for number, unit in enumerate(("words", "steps", "words", "steps")):
        page.locator(".st-key-examples button").first.click()
        page.locator(".st-key-example_list button").nth(number).wait_for()
        page.evaluate(LEAVE_BUSY, [number, unit])
        expect(page.locator(".page-links [aria-current]")).to_have_text("Lab")
        expect(units.locator(CHOSEN)).to_have_text(unit)
        go_to_page(page, "Translate")
        expect(units.locator(CHOSEN)).to_have_text(unit)


@pytest.mark.nightly
@pytest.mark.parametrize("way", ["To the transformer", "Lab"])
def test_choice_during_navigation_does_not_return_to_the_old_page(open_page: Opener, way: str) -> None:
    page = open_page()
    page.add_init_script(SLOW_LINE)
    page.reload()
    settled(page)
    page.locator(".st-key-sentence textarea").fill("Dogs run.")
    page.evaluate("window.late = []")
    page.get_by_role("link", name=way, exact=True).click()
    page.wait_for_timeout(50)
    page.get_by_role("radio", name="FR").click()
    page.wait_for_function("() => window.late.length > 3")
    page.evaluate("window.arrive()")
    page.wait_for_url(on_page(way))
    page.wait_for_url(re.compile("lang=fr"))
    expect(page.locator(".page-links [aria-current]")).to_have_attribute("data-page", WAYS[way])


@on_a_telephone
def test_back_restores_the_page_left_by_a_link(open_page: Opener) -> None:
    page = open_page("?step=3")
    settled(page)
    for way in ("Lab", "Why attention?"):
        left = page.url
        page.locator(".st-key-sentence textarea").fill("Two dogs run.")  # so that a request to the server is pending
        go_to_page(page, way)
        page.go_back()
        page.wait_for_url(on_page("Translate"))
        if "dogs" in page.url:  # the server was fast: its translation was shown, and has its own history entry
            page.go_back()
        expect(page.locator(".page-links [aria-current]")).to_have_text("Translate")
        expect(page.locator(".facts h2")).to_have_text(re.compile("^Step 3 "))
        assert page.url == left
        page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')


AT_ONCE = """async (names) => {
  const soon = (milliseconds) => new Promise((then) => setTimeout(then, milliseconds));
  const links = () => [...document.querySelectorAll(".page-links a")];
  for (const name of names) {
    let link;
    while (!(link = links().find((one) => one.innerText === name))) await soon(1);
    const path = link.dataset.page || null, here = () => new URL(location.href).searchParams.get("page");
    link.click();
    for (let since = performance.now(); here() !== path;) {
      if (performance.now() - since > 15000) throw new Error(`${name} was not gone to`);
      await soon(1);
    }
  }
}"""
"""Go from page to page, each time as soon as the address is that of the one before."""


@pytest.mark.nightly
def test_rapid_link_clicks_are_all_followed(open_page: Opener) -> None:
    page = open_page()
    for names in (["Corpus", "Translate"], ["Lab", "Why attention?", "Corpus", "Lab"], ["Corpus", "Translate"]) * 3:
        page.evaluate(AT_ONCE, names)
        expect(page.locator(".page-links [aria-current]")).to_have_text(names[-1])
        page.wait_for_selector('.stApp[data-test-script-state="notRunning"]')
        expect(page.locator(".page-links [aria-current]")).to_have_text(names[-1])
