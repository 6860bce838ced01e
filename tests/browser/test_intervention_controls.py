"""Interventions on a step: weights changed by mouse, touch and keyboard, and forced words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace
from attnviz.analysis.measures import weight_order
from attnviz.figures.grammar import THINNED_ROWS
from attnviz.trace.interventions import ForceWords, ReplaceWeights, forced_prefix
from attnviz.translator import Translator
from tests.browser.settled import settled
from tests.browser.test_languages import switch
from tests.browser.test_page import expect_step
from tests.browser.texts import text_of
from tests.browser.views import EXAMPLE, NARROW, SHOWN, on_both
from tests.snapshots import without_numbers

pytestmark = pytest.mark.browser
Opener = Callable[..., Page]

STEP, EUROPEAN = 3, 4
"""1-based step, as in the URL, and 0-based source piece: attention to it alone changes the word of the step."""
AT = f"?search=greedy&step={STEP}&sentence={quote(EXAMPLE)}"
LONG = "Two men in blue shirts are playing guitar on a busy street " * 5


@pytest.fixture(scope="module")
def european_only(translator: Translator[Trace], greedy_trace: Trace) -> Trace:
    """Return the translation if STEP attends to EUROPEAN alone."""
    row = ReplaceWeights(tuple(float(j == EUROPEAN) for j in range(len(greedy_trace.source_ids))), STEP - 1)
    return translator.translate(EXAMPLE, interventions=[*forced_prefix(greedy_trace.target_ids, STEP - 1), row], beam=1)


def bar(page: Page, piece: int) -> Locator:
    """Return the slider of a source piece, whatever its row."""
    name = page.locator(".st-key-softmax .chart").evaluate(
        "(chart, piece) => chart.layout.meta.weights.pieces[piece]", piece
    )
    found = page.locator(".st-key-softmax .hand")
    same = found.filter(has=page.locator(f"xpath=self::*[contains(@aria-label, '{name}')]"))
    return same.first


def weights(page: Page) -> list[float]:
    """Return the weights whose bars are drawn."""
    drawn: list[float] = page.locator(".st-key-softmax .chart").evaluate("(chart) => Array.from(chart._fullData[1].x)")
    return drawn


def bar_labels(page: Page) -> list[str]:
    """Return the numbers at the ends of the bars of weights."""
    texts: list[str] = page.locator(".st-key-softmax .chart").evaluate("(chart) => Array.from(chart._fullData[2].text)")
    return [text.strip() for text in texts]


def expect_weight(page: Page, piece: int, least: float, most: float) -> None:
    page.wait_for_function(
        """([piece, least, most]) => {
          const weight = document.querySelector(".st-key-softmax .chart")?._fullData?.[1].x[piece];
          return least <= weight && weight <= most;
        }""",
        arg=[piece, least, most],
    )


def expect_translation(page: Page, trace: Trace) -> None:
    """Wait until browser and server show a translation."""
    expect(page.locator(".player .target")).to_contain_text(trace.translation)
    settled(page)


def scroll_to_bar(page: Page, piece: int) -> None:
    """Scroll to a bar: at the top of the window it could be below the line there."""
    bar(page, piece).evaluate("(bar) => bar.scrollIntoView({ block: 'center' })")


def grasp(page: Page, piece: int, by: float = 0) -> tuple[float, float, float]:
    """Press on the bar of a piece and move right by a weight; return where that was, and the pixels of weight 1."""
    scroll_to_bar(page, piece)
    box = bar(page, piece).bounding_box()
    assert box
    unit = float(
        page.locator(".st-key-softmax .chart").evaluate(
            "({ _fullLayout: { xaxis2 } }) => xaxis2.c2p(1) - xaxis2.c2p(0)"
        )
    )
    x, y = box["x"] + 6, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    if by:
        page.mouse.move(x + by * unit, y + 3, steps=5)
    return x, y, unit


def drag(page: Page, piece: int, by: float) -> None:
    grasp(page, piece, by)
    page.mouse.up()


def what_ifs(page: Page) -> list[str]:
    return parse_qs(urlsplit(page.url).query).get("what_ifs", [])


def change_texts(page: Page) -> dict[str, str]:
    """Return the description of the change at the step: its heading, and its sentence without numbers."""
    box = page.locator(".st-key-changed")
    return {"heading": text_of(box.locator("h3")), "sentence": without_numbers(text_of(box.locator("p").first))}


def positions(page: Page) -> Any:
    """Return the positions and sizes of all parts of the stages on the page."""
    return page.evaluate(
        """() => {
          const drawn = "[class*='st-key-stage_'], .weight_controls, .st-key-softmax .chart";
          const nodes = [...document.querySelectorAll(drawn)];
          return nodes.map((node) => {
            const { x, y, width, height } = node.getBoundingClientRect();
            return [x, y + document.querySelector(".stMain").scrollTop, width, height].map(Math.round);
          });
        }"""
    )


OUTDATED = (
    ".facts > p",
    ".facts .outcome",
    ".player .shown",
    ".st-key-heatmap .chart-box",
    ".st-key-softmax .chart-box > p",
    ".st-key-stage_5",
    ".st-key-diagram .likely",
)
"""Parts of the page that show the step before a change of its weights."""


def expect_outdated(page: Page, outdated: bool) -> None:
    """Wait until what shows the step before a change is faded and said to be so, or until none of it is."""
    for name in OUTDATED:
        expect(page.locator(name).first).to_have_css("opacity", "0.35" if outdated else "1")
    expect(page.locator(".weight_controls .outdated")).to_be_visible(visible=outdated)
    expect(page.locator(".weight_controls .hint")).to_be_visible(visible=not outdated)
    expect(page.locator(".st-key-softmax .chart")).to_have_css("opacity", "1")


@on_both
def test_dragged_bar_previews_weights_without_the_server(open_page: Opener, greedy_trace: Trace) -> None:
    page = open_page(AT)
    expect_step(page, STEP)
    settled(page)
    alpha = greedy_trace.alignment[STEP - 1].astype(float)
    scroll_to_bar(page, EUROPEAN)
    page.evaluate(
        """() => {
          window.tried = 0;
          document.querySelector(".st-key-room").addEventListener("attnviz:try", () => { tried += 1; });
        }"""
    )
    before = positions(page)
    expect_outdated(page, False)
    grasp(page, EUROPEAN, 0.5)
    expect_weight(page, EUROPEAN, 0.48, 0.52)
    expect_outdated(page, True)
    now = np.array(weights(page))
    assert now.sum() == pytest.approx(1, abs=1e-6)
    others = [j for j in range(len(alpha)) if j != EUROPEAN]
    np.testing.assert_allclose(now[others] / now[others].sum(), alpha[others] / alpha[others].sum(), atol=1e-5)
    assert bar_labels(page)[EUROPEAN] == f"{now[EUROPEAN]:.2f}"
    announced = float(bar(page, EUROPEAN).get_attribute("aria-valuenow") or "nan")
    assert announced == pytest.approx(float(now[EUROPEAN]), abs=1e-4)
    expect(bar(page, EUROPEAN).locator("output")).to_be_visible()
    assert positions(page) == before
    page.keyboard.press("Escape")
    expect_weight(page, EUROPEAN, alpha[EUROPEAN] - 1e-3, alpha[EUROPEAN] + 1e-3)
    expect_outdated(page, False)
    page.mouse.up()
    # Escape cancelled the drag, and did not reach the page.
    assert page.evaluate(f"() => {SHOWN}.source") == int(alpha.argmax())
    assert page.evaluate("() => tried") == 0
    assert not what_ifs(page)


@pytest.mark.nightly
@on_both
def test_dragged_weight_can_be_undone_or_applied_to_a_held_translation(
    open_page: Opener, greedy_trace: Trace, european_only: Trace, snapshot: SnapshotAssertion
) -> None:
    page = open_page(AT)
    expect_step(page, STEP)
    settled(page)
    assert european_only.translation != greedy_trace.translation
    drag(page, EUROPEAN, 1.3)
    expect_translation(page, european_only)
    expect_outdated(page, False)
    expect_step(page, STEP)
    expect(page.locator(".st-key-changed p")).to_contain_text("“·Europe”")
    assert change_texts(page) == snapshot(name="pulled")
    expect(page.locator(".st-key-changed .js-plotly-plot")).to_have_attribute("aria-label", re.compile("·Europe"))
    assert len(what_ifs(page)) == 1
    page.locator(".weight_controls .undo").click()
    expect_translation(page, greedy_trace)
    expect(page.locator(".st-key-changed")).to_have_count(0)
    expect(page.locator(".weight_controls .undo")).to_be_disabled()
    page.wait_for_url(lambda url: "what_ifs=" not in url)
    drag(page, EUROPEAN, 1.3)
    expect_translation(page, european_only)
    switch(page, "fr")
    expect(page.locator(".weight_controls .only")).to_have_text("Seulement ici")
    expect(page.locator(".st-key-changed p")).to_contain_text("« ·Europe »")
    assert change_texts(page) == snapshot(name="pulled, in French")
    pulled = text_of(page.locator(".st-key-changed p"))
    expect_translation(page, european_only)
    page.get_by_label("garder la traduction").check()
    strongest = int(greedy_trace.alignment[STEP - 1].argmax())
    drag(page, strongest, 0.4)
    expect_weight(page, strongest, 0.3, 0.5)
    diagram = page.locator(".st-key-diagram").bounding_box()
    assert diagram
    assert diagram["height"] > 300  # manual weights do not shrink the diagram
    page.wait_for_function("() => new URL(location.href).searchParams.get('what_if') === '2'")
    expect_translation(page, european_only)  # held: only the numbers are others
    expect(page.locator(".st-key-changed p")).not_to_have_text(pulled)
    expect(page.locator(".st-key-changed p")).to_contain_text("« ·Europe »")
    assert change_texts(page) == snapshot(name="held, in French")


@pytest.mark.nightly
@on_both
def test_weights_can_be_changed_by_keyboard(open_page: Opener, greedy_trace: Trace, european_only: Trace) -> None:
    page = open_page(AT)
    expect_step(page, STEP)
    settled(page)
    page.locator(".st-key-glossary button").focus()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate(
            "() => document.activeElement.getAttribute('role') === 'slider'"
            " && document.activeElement.classList.contains('hand')"
        ):
            break
    strongest = int(greedy_trace.alignment[STEP - 1].argmax())
    expect(bar(page, strongest)).to_be_focused()  # the bars are one tab stop
    for _ in range(abs(EUROPEAN - strongest)):
        page.keyboard.press("ArrowDown" if strongest < EUROPEAN else "ArrowUp")
    expect(bar(page, EUROPEAN)).to_be_focused()
    stops = page.locator(".st-key-softmax .hand").evaluate_all(
        "(bars) => bars.filter((bar) => bar.tabIndex === 0).length"
    )
    assert stops == 1
    page.wait_for_function(f"() => {SHOWN}.source === {EUROPEAN}")  # "here" is where the focus is
    for key, least, most in (
        ("ArrowRight", 0.04, 0.06),
        ("ArrowRight", 0.09, 0.11),
        ("PageUp", 0.29, 0.31),
        ("ArrowLeft", 0.24, 0.26),
        ("Shift+ArrowLeft", 0.23, 0.25),
    ):
        page.keyboard.press(key)
        expect_weight(page, EUROPEAN, least, most)
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
    bar(page, EUROPEAN).focus()
    page.locator(".weight_controls .only").focus()
    page.keyboard.press("Enter")
    expect_translation(page, european_only)


@pytest.mark.nightly
@on_both
def test_buttons_set_one_hot_masked_and_uniform_weights(open_page: Opener, greedy_trace: Trace) -> None:
    # The step that attends to EUROPEAN most, so that every button changes its weights.
    row = int(greedy_trace.alignment[:, EUROPEAN].argmax())
    page = open_page(f"?search=greedy&step={row + 1}&sentence={quote(EXAMPLE)}&source={EUROPEAN + 1}")
    expect_step(page, row + 1)
    settled(page)
    expect(page.locator(".weight_controls .hint")).to_contain_text("“European”")
    strongest, count = int(greedy_trace.alignment[row].argmax()), len(greedy_trace.source_ids)
    most = float(greedy_trace.alignment[row, strongest])
    for name, piece, weight in (("only", EUROPEAN, 1), ("alike", strongest, 1 / count), ("without", EUROPEAN, 0)):
        page.locator(f".weight_controls .{name}").click()
        expect(page.locator(".st-key-changed p").first).not_to_be_empty(timeout=60_000)
        expect_weight(page, piece, weight - 1e-3, weight + 1e-3)
        settled(page)
        page.locator(".weight_controls .undo").click()
        expect(page.locator(".st-key-changed")).to_have_count(0)
        expect_weight(page, strongest, most - 1e-3, most + 1e-3)
        settled(page)


@pytest.mark.nightly
@on_both
def test_long_sentence_has_a_slider_for_each_shown_piece(open_page: Opener, translator: Translator[Trace]) -> None:
    page = open_page(f"?search=greedy&step=2&sentence={quote(LONG)}")
    expect_step(page, 2)
    settled(page)
    trace = translator.translate(LONG, beam=1)
    order = weight_order(trace, 1)
    shown = page.locator(".st-key-softmax .hand:not([hidden])")
    expect(shown).to_have_count(THINNED_ROWS)  # strongest first, as a long sentence opens
    tops = shown.evaluate_all("(bars) => bars.map((bar) => bar.getBoundingClientRect().y)")
    assert tops == sorted(tops)  # Tab goes down the rows
    values = shown.evaluate_all("(bars) => bars.map((bar) => Number(bar.getAttribute('aria-valuenow')))")
    np.testing.assert_allclose(values, trace.alignment[1, order[:THINNED_ROWS]], atol=1e-4)
    shown.nth(2).focus()
    page.keyboard.press("PageUp")
    page.wait_for_function(
        "([piece, before]) => document.querySelector('.st-key-softmax .chart')._fullData[1].x[piece] > before + 0.1",
        arg=[order[2], float(trace.alignment[1, order[2]])],
    )
    expect(shown.nth(2).locator("output")).to_be_visible()  # there are no numbers at the ends of so many bars
    page.keyboard.press("Escape")
    page.get_by_text("sentence order").click()
    expect(page.locator(".st-key-softmax .hand:not([hidden])")).to_have_count(len(order))


@pytest.mark.nightly
@on_both
def test_forced_word_changes_the_translation(
    open_page: Opener, translator: Translator[Trace], greedy_trace: Trace
) -> None:
    page = open_page(AT)
    expect_step(page, STEP)
    settled(page)
    foil = next(
        piece for piece in greedy_trace.top_ids[STEP - 1].tolist() if piece != greedy_trace.target_ids[STEP - 1]
    )
    words = [*forced_prefix(greedy_trace.target_ids, STEP - 1), ForceWords((foil,), STEP - 1)]
    page.locator(".other-word .write").click()
    expect_translation(page, translator.translate(EXAMPLE, interventions=words, beam=1))
    page.locator(".weight_controls .undo").click()
    expect_translation(page, greedy_trace)
    page.locator(".other-word .typed").fill("traité")
    page.locator(".other-word .typed").press("Enter")
    expect(page.locator(".player .target")).to_contain_text("traité")
    page.wait_for_url(re.compile("what_ifs="))


@pytest.mark.nightly
def test_horizontal_touch_drags_a_bar_and_vertical_touch_scrolls(open_page: Opener, greedy_trace: Trace) -> None:
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
    assert box
    x, y = box["x"] + 8, box["y"] + box["height"] / 2
    touch("touchStart", x, y)
    for k in range(1, 8):
        touch("touchMove", x + 10 * k, y)
    page.wait_for_function(
        "(piece) => document.querySelector('.st-key-softmax .chart')._fullData[1].x[piece] > 0.2", arg=EUROPEAN
    )
    before = page.evaluate("() => document.querySelector('.stMain').scrollTop")
    for k in range(7, 0, -1):
        touch("touchMove", x + 10 * k - 10, y)
    touch("touchEnd")
    expect_weight(page, EUROPEAN, 0, 0.02)
    pulled = bar(page, EUROPEAN).bounding_box()
    assert pulled
    assert abs(pulled["y"] - box["y"]) < 1, "the bar stays under the finger, also if a text above gets more lines"
    touch("touchStart", x, y)
    for k in range(1, 12):
        touch("touchMove", x, y - 12 * k)
    touch("touchEnd")
    page.wait_for_function("(before) => document.querySelector('.stMain').scrollTop > before + 40", arg=before)
    np.testing.assert_allclose(weights(page), greedy_trace.alignment[STEP - 1], atol=2e-3)
