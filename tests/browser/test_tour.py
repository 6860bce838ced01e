"""The guided tour: its stops and quiz by mouse and keys, URL and history, and the view restored at its end."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.settled import settled
from tests.browser.test_page import query
from tests.browser.views import SHOWN, on_both

HONEST = "?sentence=He+is+an+honest+man.&depth=idea&step=2"
CARD = ".tour .card"


def wait_for_stop(page: Page, number: int) -> Locator:
    """Wait until the tour is at a stop, here and in the address; return its card."""
    page.wait_for_url(re.compile(rf"tour={number}(&|$)"))
    card = page.locator(CARD)
    expect(card.locator("[aria-current='step']")).to_have_attribute("aria-label", re.compile(rf"\b{number}\b"))
    expect(card).to_be_visible()
    return card


def expect_tour_closed(page: Page) -> None:
    expect(page.locator(CARD)).to_be_hidden()
    page.wait_for_function("() => !new URLSearchParams(location.hash.slice(1)).has('tour')")


def view_state(page: Page) -> tuple[object, ...]:
    """Return the state that the tour must restore at its end."""
    top = page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop")
    shown = page.evaluate(f"(({{ step, source, order }}) => [step, source, order])({SHOWN})")
    return top, shown, query(page), page.locator(".player .target").inner_text()


def wait_until_card_is_beside(page: Page) -> None:
    """Wait until the highlighted part is in the window, and the card does not cover it."""
    page.wait_for_function("""() => {
      const host = document.querySelector('.st-key-tour_card');
      const box = (name) => host.shadowRoot.querySelector(name).getBoundingClientRect();
      const light = box('.light'), card = box('.card');
      if (!light.height) return false;
      const apart = light.right <= card.left || card.right <= light.left || light.bottom <= card.top ||
        card.bottom <= light.top;
      return apart && light.top < innerHeight && light.bottom > 0 && card.top >= 0 && card.bottom <= innerHeight + 1 &&
        card.left >= 0 && card.right <= innerWidth;
    }""")


def answer_all(card: Locator, *, keys: bool) -> int:
    """Answer every question, by the mouse or by keys; return how many there were."""
    count = 0
    while card.locator(".word:enabled").count():
        if keys:
            card.locator(".word[tabindex='0']").focus()
            card.page.keyboard.press("ArrowRight")
            card.page.keyboard.press("Enter")
            expect(card.locator(".onward")).to_be_focused()
            card.page.keyboard.press("Enter")
        else:
            card.locator(".word").nth(3).click()
            expect(card.locator(".given")).to_have_count(1)
            card.locator(".onward").click()
        count += 1
    return count


@on_both
def test_tour_runs_from_first_stop_to_score_and_restores_the_view(open_page) -> None:
    """Use keys in the light theme and the mouse in the dark one: each runs in a wide and in a narrow window."""
    page = open_page(HONEST)
    settled(page, ".st-key-heatmap")
    before, keys = view_state(page), page.evaluate("matchMedia('(prefers-color-scheme: light)').matches")
    page.locator(".st-key-tour_button button").click()
    card = wait_for_stop(page, 1)
    expect(card).to_be_focused()
    expect(card.locator(".texts")).to_contain_text("“honnête”")
    assert page.evaluate(f"{SHOWN}.step") == 5, "the step of the word that the card describes"
    for number in range(2, 7):
        wait_until_card_is_beside(page)
        if keys:
            page.keyboard.press("ArrowRight")
        else:
            card.locator(".next").click()
        wait_for_stop(page, number)
        if number == 4:
            check_pulled_energy(page, card)
    card.locator(".next").click()
    wait_for_stop(page, 7)
    for hidden in (".st-key-heatmap .js-plotly-plot", ".player .source", ".st-key-softmax", ".st-key-diagram svg"):
        expect(page.locator(hidden).first).to_be_hidden()
    card.locator(".back").press("Enter")
    wait_for_stop(page, 6)
    expect(page.locator(".st-key-heatmap .js-plotly-plot")).to_be_visible()
    page.keyboard.press("ArrowRight")
    wait_for_stop(page, 7)
    page.keyboard.press("ArrowRight")  # the last stop: only its button and Esc end the tour
    expect(card).to_be_visible()
    count = answer_all(card, keys=keys)
    assert count >= 3
    expect(card.locator(".hits")).to_have_text(re.compile(rf"^Correct answers, judged by α.*: \d of {count}"))
    expect(card.locator(".chance")).to_contain_text(re.compile(rf"\d\.\d of {count}"))
    expect(page.locator(".st-key-heatmap .js-plotly-plot")).to_be_visible()
    if keys:
        page.keyboard.press("Escape")
        expect(page.locator(".st-key-tour_button button")).to_be_focused()
    else:
        card.locator(".next").click()
    expect_tour_closed(page)
    page.wait_for_function(f"() => {SHOWN}.step === 1")
    assert view_state(page) == before
    page.locator(".st-key-tour_button button").click()
    wait_for_stop(page, 1)
    card.locator(".dots button").last.click()
    card.locator(".onward").click()  # the score still stands there, with the way on
    expect(page.locator(".st-key-why_opening")).to_contain_text("Why attention?")
    expect(page.locator(CARD)).to_have_count(0)


def check_pulled_energy(page: Page, card: Locator) -> None:
    """Change an energy: the weights follow, on the card and on the page, and can be reset."""
    share, bar = card.locator(".share output").nth(1), page.locator(".st-key-attention .hand").nth(1)
    before, own = share.inner_text(), bar.get_attribute("aria-valuenow")
    card.locator("input[type='range']").nth(1).focus()
    page.keyboard.press("End")
    expect(share).not_to_have_text(before)
    expect(bar).not_to_have_attribute("aria-valuenow", own or "")
    expect(page.locator("[data-previewed] .st-key-diagram")).to_be_attached()
    card.locator(".pull > .plain").click()
    expect(share).to_have_text(before)
    expect(bar).to_have_attribute("aria-valuenow", own or "")
    expect(page.locator("[data-previewed]")).to_have_count(0)


def test_tour_survives_history_language_and_sentence_changes(open_page) -> None:
    page = open_page(f"{HONEST}&tour=3&source=4")
    card = wait_for_stop(page, 3)
    settled(page, ".st-key-heatmap")
    assert query(page)["step"] == "2", "the link has the step shown before the tour"
    page.keyboard.press("ArrowRight")
    wait_for_stop(page, 4)
    page.go_back()
    wait_for_stop(page, 3)
    page.go_forward()
    wait_for_stop(page, 4)
    page.keyboard.press("ArrowRight")
    wait_for_stop(page, 5)
    page.locator(".st-key-lang").get_by_role("radio", name="FR").click()
    expect(card.locator("h2")).to_have_text("Mélange (vecteur de contexte)")
    page.locator(".st-key-depth").get_by_role("radio", name="Nombres").click()
    page.wait_for_url(re.compile("depth=numbers"))
    wait_for_stop(page, 5)
    wait_until_card_is_beside(page)
    box = page.locator("input[type='checkbox']:visible").first
    box.press("ArrowRight")  # a field has its keys, the tour those of the page
    box.evaluate("(node) => node.blur()")
    page.keyboard.press("ArrowLeft")
    wait_for_stop(page, 4)
    page.keyboard.press("ArrowRight")
    wait_for_stop(page, 5)
    page.locator(".st-key-lang").get_by_role("radio", name="EN").click()
    expect(card.locator("h2")).to_have_text("Mixture (context vector)")
    card.locator(".dots button").nth(6).click()  # which *Idea* does not have
    wait_for_stop(page, 7)
    expect(card.locator(".texts")).to_contain_text("Bayes")
    page.go_back()
    wait_for_stop(page, 5)
    page.locator(".st-key-sentence textarea").fill("The green house is old.")
    page.keyboard.press("Control+Enter")
    expect(card.locator(".texts")).to_contain_text("green")
    wait_for_stop(page, 5)
    settled(page, ".st-key-heatmap")
    page.locator(".player .target .word").last.click()
    card.locator(".astray").click()
    expect(card.locator(".astray")).to_be_hidden()
    card.locator(".close").click()
    expect_tour_closed(page)
    page.go_back()
    wait_for_stop(page, 5)
