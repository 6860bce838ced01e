"""What-ifs: weights changed by mouse, touch and keyboard, cards, and marks on words that are likely wrong."""

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from attnviz import ReplaceWeights, Temperature, Trace
from attnviz.analysis import load_weights, posterior
from attnviz.trace.interventions import forced_prefix, to_json_dict
from attnviz.ui.examples import EXAMPLES
from tests.browser.settled import settled
from tests.browser.test_page import expect_step, query, type_sentence
from tests.browser.views import EXAMPLE, NARROW, SHOWN, on_both
from tests.conftest import SHIPPED_MODEL
from tests.what_if_links import link, only

STEP, EUROPEAN = 3, 4
"""1-based step, as in the URL, and 0-based source piece: attention to it alone changes the word of the step."""
AT = f"?search=greedy&step={STEP}&sentence={EXAMPLE}"


@pytest.fixture(scope="module")
def european_only(shipped_translator, greedy_trace) -> Trace:
    """Return the translation if STEP attends to EUROPEAN alone."""
    row = ReplaceWeights(tuple(float(j == EUROPEAN) for j in range(len(greedy_trace.source_ids))), STEP - 1)
    return shipped_translator.translate(
        EXAMPLE, interventions=[*forced_prefix(greedy_trace.target_ids, STEP - 1), row], beam=1
    )


def bar(page: Page, piece: int) -> Locator:
    """Return the slider of a source piece, whatever its row."""
    names = page.locator(".st-key-softmax .chart").evaluate("(chart) => chart.layout.meta.weights.pieces")
    named = page.locator(f"xpath=self::*[contains(@aria-label, '{names[piece]}')]")
    return page.locator(".st-key-softmax .hand").filter(has=named).first


def weights(page: Page) -> list[float]:
    return page.locator(".st-key-softmax .chart").evaluate("(chart) => Array.from(chart._fullData[1].x)")


def expect_weight(page: Page, piece: int, least: float, most: float) -> None:
    within = """([piece, least, most]) => {
      const weight = document.querySelector(".st-key-softmax .chart")?._fullData?.[1].x[piece];
      return least <= weight && weight <= most;
    }"""
    page.wait_for_function(within, arg=[piece, least, most])


def expect_translation(page: Page, trace: Trace) -> None:
    expect(page.locator(".player .target")).to_contain_text(trace.translation)
    settled(page)


def scroll_to_bar(page: Page, piece: int) -> None:
    """Scroll to a bar: at the top of the window it could be below the line there."""
    bar(page, piece).evaluate("(bar) => bar.scrollIntoView({ block: 'center' })")


def grasp(page: Page, piece: int, by: float = 0) -> tuple[float, float, float]:
    """Press on the bar of a piece and move right by a weight; return where that was, and the pixels of weight 1."""
    scroll_to_bar(page, piece)
    box = bar(page, piece).bounding_box()
    one = "({ _fullLayout: { xaxis2 } }) => xaxis2.c2p(1) - xaxis2.c2p(0)"
    unit = float(page.locator(".st-key-softmax .chart").evaluate(one))
    x, y = box["x"] + 6, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    if by:
        page.mouse.move(x + by * unit, y + 3, steps=5)
    return x, y, unit


@pytest.mark.nightly
@on_both
def test_weights_can_be_changed_by_keyboard(open_page, greedy_trace, european_only) -> None:
    page = open_page(AT)
    expect_step(page, STEP)
    settled(page)
    strongest = int(greedy_trace.alignment[STEP - 1].argmax())
    bar(page, strongest).focus()
    for _ in range(abs(EUROPEAN - strongest)):
        page.keyboard.press("ArrowDown" if strongest < EUROPEAN else "ArrowUp")
    expect(bar(page, EUROPEAN)).to_be_focused()
    tab_stops = "(bars) => bars.filter((bar) => bar.tabIndex === 0).length"
    assert page.locator(".st-key-softmax .hand").evaluate_all(tab_stops) == 1
    page.wait_for_function(f"() => {SHOWN}.source === {EUROPEAN}")  # "here" is where the focus is
    steps = (("ArrowRight", 0.05), ("ArrowRight", 0.1), ("PageUp", 0.3), ("ArrowLeft", 0.25), ("Shift+ArrowLeft", 0.24))
    for key, weight in steps:
        page.keyboard.press(key)
        expect_weight(page, EUROPEAN, weight - 0.01, weight + 0.01)
    page.keyboard.press("Space")
    page.keyboard.press("b")
    page.keyboard.press("Escape")  # undoes the change
    expect_weight(page, EUROPEAN, 0, 0.02)
    assert page.evaluate(f"() => {SHOWN}.step") == STEP - 1
    assert page.evaluate(f"() => {SHOWN}.source") == EUROPEAN
    expect(page.locator(".st-key-face [aria-checked=true]")).to_have_text("Before the word")
    page.keyboard.press("End")
    expect_weight(page, EUROPEAN, 1, 1)
    page.keyboard.press("Enter")
    expect_translation(page, european_only)
    expect(bar(page, EUROPEAN)).to_be_focused()
    page.keyboard.press("Escape")  # leaves the bars, and deselects the word
    page.locator(".weight_controls .undo").focus()
    page.keyboard.press("Enter")
    expect_translation(page, greedy_trace)
    # The temperature of all steps.
    slider = page.locator(".weight_controls .degrees")
    slider.focus()
    page.keyboard.press("Tab")
    expect(page.get_by_label("all steps", exact=True)).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "τ = ∞")
    share = 1 / len(greedy_trace.source_ids)
    expect_weight(page, EUROPEAN, share - 1e-3, share + 1e-3)
    page.keyboard.press("Enter")
    expect(page.locator(".what_ifs .card").last).to_contain_text("mean of all annotations")
    settled(page)
    page.locator(".weight_controls .undo").click()
    expect_translation(page, greedy_trace)

    # Weights of another distribution.
    page.locator(".weight_controls summary").click()
    lender = page.locator(".weight_controls .lender")
    lender.select_option("posterior")
    page.locator(".weight_controls .take").click()
    expect(page.locator(".what_ifs .card").last).to_contain_text("uses its posterior attention")
    settled(page)
    np.testing.assert_allclose(weights(page), posterior(greedy_trace, load_weights(SHIPPED_MODEL))[STEP - 1], atol=2e-3)
    lender.select_option("links")
    page.locator(".weight_controls .links").fill("gold")
    page.locator(".weight_controls .take").click()
    expect(page.locator(".weight_controls .problem")).to_contain_text("“gold” is not a link")


@pytest.mark.nightly
def test_horizontal_touch_drags_a_bar_and_vertical_touch_scrolls(open_page, greedy_trace) -> None:
    page = open_page(AT, width=NARROW.width, height=NARROW.height)
    expect_step(page, STEP)
    settled(page)
    scroll_to_bar(page, EUROPEAN)
    settled(page)  # charts that are drawn near the window would shift the page under the finger
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def touch(kind: str, *at: float) -> None:
        points = [{"x": at[0], "y": at[1]}] if at else []
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    box = bar(page, EUROPEAN).bounding_box()
    x, y = box["x"] + 8, box["y"] + box["height"] / 2
    touch("touchStart", x, y)
    for k in range(1, 8):
        touch("touchMove", x + 10 * k, y)
    expect_weight(page, EUROPEAN, 0.2, 1)
    before = page.evaluate("() => document.querySelector('.stMain').scrollTop")
    for k in range(7, 0, -1):
        touch("touchMove", x + 10 * k - 10, y)
    touch("touchEnd")
    expect_weight(page, EUROPEAN, 0, 0.02)
    pulled = bar(page, EUROPEAN).bounding_box()
    assert abs(pulled["y"] - box["y"]) < 1, "the bar stays under the finger, also if a text above gets more lines"
    touch("touchStart", x, y)
    for k in range(1, 12):
        touch("touchMove", x, y - 12 * k)
    touch("touchEnd")
    page.wait_for_function("(before) => document.querySelector('.stMain').scrollTop > before + 40", arg=before)
    np.testing.assert_allclose(weights(page), greedy_trace.alignment[STEP - 1], atol=2e-3)


AT_STEP_3 = "?sentence=The+green+house+at+the+end+of+the+street+is+very+old.&step=3&depth=numbers"
ONLY_GREEN = only(14, 2, 1)
HOT = Temperature(5.0)

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


@on_both
def test_what_ifs_are_added_selected_and_removed_and_are_in_url_and_history(open_page) -> None:
    page = open_page(AT_STEP_3)
    settled(page, ".st-key-heatmap")
    page.wait_for_function("() => history.state?.attnvizEntry")
    expect_shown(page, 0, 0)
    expect(page.locator(".what_ifs")).to_be_hidden()
    french = page.locator(".player .target")
    first = french.inner_text()
    dispatch_change(page, to_json_dict(ONLY_GREEN))
    expect_shown(page, 1, 2)
    expect_step(page, 3)
    expect(cards(page).nth(1)).to_contain_text("Step 3 looks only at “green”")
    page.wait_for_url(re.compile(f"what_ifs={link(ONLY_GREEN)}&what_if=1"))
    green = french.inner_text()
    dispatch_change(page, to_json_dict(HOT))
    expect_shown(page, 2, 3)
    assert cards(page).nth(2).locator("mark, del").count() > 0, "differences are marked"
    expect(page.locator(".st-key-status")).to_contain_text("what-if 2")
    page.wait_for_url(re.compile("what_if=2"))
    left, card_texts = query(page), cards(page).all_inner_texts()

    for number, count, translation in ((1, 2, green), (0, 0, first)):
        page.go_back()
        expect_shown(page, number, count)
        expect(french).to_have_text(translation, use_inner_text=True)
        expect_step(page, 3)
    page.go_forward()
    expect_shown(page, 1, 2)
    page.go_forward()
    expect_shown(page, 2, 3)
    page.reload()
    expect_shown(page, 2, 3)
    assert cards(page).all_inner_texts() == card_texts
    page.wait_for_url(re.compile("what_if=2"))
    assert query(page) == left

    cards(page).nth(0).click()
    expect_shown(page, 0, 3)
    page.get_by_role("button", name="Remove what-if 1").click()  # and the second, which was made from it
    expect_shown(page, 0, 0)
    page.wait_for_url(lambda url: "what_if" not in url)
    expect(page.locator(".what_ifs")).to_be_hidden()


BANK, GREETINGS, DEEDS = EXAMPLES["Mistakes, and why"]


@on_both
def test_marks_open_cards_that_lead_to_the_step_and_to_another_hypothesis(open_page) -> None:
    page = open_page(f"?sentence={DEEDS}&depth=idea")
    settled(page, ".st-key-heatmap")
    mark, card = page.locator(".player .suspect"), page.locator(".player .reasons")
    expect(mark).to_have_count(1)
    box = mark.bounding_box()
    assert min(box["width"], box["height"]) >= 24
    mark.click()
    card.get_by_role("button", name=re.compile("Show step")).click()
    expect_step(page, 25)
    page.locator(".player .source .word").last.click(position={"x": 2, "y": 2})
    expect(card).to_be_hidden()

    # Words that were not read are struck through while their card is open.
    type_sentence(page, GREETINGS, "Good-bye")
    unread = page.locator(".player .source .unread")
    expect(unread).to_have_count(0)
    page.locator(".player .source .suspect").click()
    expect(unread).to_have_text(["night", ".", "Sleep", "well", ".", "Good-bye"])
    page.keyboard.press("Escape")
    expect(unread).to_have_count(0)

    # By the keyboard: the card of another sentence, and the other translation on it.
    type_sentence(page, BANK, "bank")
    expect(mark).to_have_count(1)
    page.locator(".player .target .current").focus()
    page.keyboard.press("Tab")
    expect(mark).to_be_focused()
    page.keyboard.press("Enter")
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
    type_sentence(page, "I eat.", "eat")
    expect(mark).to_have_count(0)
