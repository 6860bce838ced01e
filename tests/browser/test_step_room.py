"""One selection in the player, the heatmap and all charts: chosen, held, hovered and released, and growing contexts."""

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnviz.analysis.measures import weight_order
from attnviz.architectures import narrate
from tests.browser.settled import settled, wait_until_still
from tests.browser.test_page import expect_step
from tests.browser.views import on_both, on_screen, parameters_of


def plot(page: Page, key: str) -> Any:
    return page.locator(f".st-key-{key} .js-plotly-plot")


def expect_source(page: Page, piece: int) -> None:
    """Wait until heatmap, sentence, energies, softmax and strips all mark 1-based source `piece`, in sentence order."""
    page.wait_for_function(
        """([piece]) => {
          const chart = (key) => document.querySelector(`.st-key-${key} .js-plotly-plot`);
          if (!["heatmap", "energy", "softmax", "growth"].every(chart)) return false;
          const band = (key) => chart(key).layout.shapes.find((shape) => shape.xref === "paper");
          const frame = chart("growth").layout.shapes.find(
            (shape) => shape.type === "rect" && shape.line.width === 2 && shape.yref !== "y2");
          const heatmap = chart("heatmap").layout;
          const cell = heatmap.shapes[1];
          return document.querySelector(".st-key-room").attnvizView.source === piece - 1
            && ["energy", "softmax"].every((key) => band(key)?.y0 + 0.5 === piece - 1)
            && frame?.y0 + 0.5 === piece - 1
            && cell?.x0 + 0.5 === heatmap.meta.columns[piece - 1]
            && cell?.y0 === heatmap.shapes[0].y0;
        }""",
        arg=[piece],
    )
    expect(page.locator(".player .source .current")).to_have_count(1)


def press_on(page: Page, key: str, x: float, y: float) -> None:
    left, top = on_screen(page, key, x, y)
    page.mouse.move(left - 2, top)
    page.mouse.click(left, top)


LIT = """([piece]) => {
  const chart = (key) => document.querySelector(`.st-key-${key} .js-plotly-plot`);
  const light = (key) => document.querySelector(`.st-key-${key} .cursor .pointing`)?.getBoundingClientRect();
  const middle = (key, axis, value) => {
    const box = chart(key).getBoundingClientRect(), drawn = chart(key)._fullLayout[axis];
    return (axis === "xaxis" ? box.x : box.y) + drawn._offset + drawn.c2p(value);
  };
  const over = (box, axis, place) => axis === "xaxis"
    ? box && box.left < place && place < box.right
    : box && box.top < place && place < box.bottom;
  const { columns } = chart("heatmap").layout.meta, { lines } = chart("units").layout.meta;
  const rows = { energy: piece, softmax: piece, growth: piece, units: lines[piece] };
  const dark = Object.entries(rows).filter(([key, row]) => !over(light(key), "yaxis", middle(key, "yaxis", row)));
  if (!over(light("heatmap"), "xaxis", middle("heatmap", "xaxis", columns[piece]))) dark.push("column");
  if (!document.querySelectorAll(".diagram .ribbon")[piece].classList.contains("seen")) dark.push("ribbon");
  return dark;
}"""
"""JavaScript for the charts that do not highlight a source piece."""


@on_both
def test_each_stage_is_complete_and_follows_steps_and_the_pointer_offline(open_page, opening) -> None:
    page = open_page("?step=3", motion=True)
    expect_step(page, 3)
    for stage in narrate(opening, 2):
        room = page.locator(f".st-key-stage_{stage.number}")
        expect(room.locator("h3").first).to_have_text(f"{stage.number}{stage.title}")
        expect(room.locator(".chart-box > p").first).to_have_text(stage.sentence.replace("\u00a0", " "))
        expect(room.locator(".katex").first).to_be_visible()
        expect(room.locator(".js-plotly-plot").first).to_be_attached()
        expect(page.locator(".facts .outcome").nth(stage.number - 1)).to_have_text(stage.outcome.replace("\u00a0", " "))
    for key in ("energy", "softmax", "growth", "state", "maxout", "candidates"):
        assert len(plot(page, key).get_attribute("aria-label")) > 20

    # The context grows by one term after the other.
    slider = page.locator(".growth .added")
    slider.evaluate("(range) => { range.value = 0; range.dispatchEvent(new Event('input', { bubbles: true })); }")
    products = opening.alignment[2][:, None] * opening.annotations
    for count in (1, 2):
        slider.press("ArrowRight")
        expect(page.locator(".growth output")).to_have_text(re.compile(f"^{count} of"))
        total = plot(page, "growth").evaluate("(chart) => Array.from(chart.data[1].z[0])")
        np.testing.assert_allclose(total, products[:count].sum(axis=0), atol=1e-6)
    page.get_by_role("button", name="2×").click()
    page.get_by_role("button", name="Build it up").click()
    expect(page.locator(".growth output")).to_have_text(re.compile("^all .* c₃$"))

    # The next step's pictures and sentences are here already.
    settled(page)
    page.wait_for_selector(".diagram .ribbon[d]", state="attached")
    page.context.set_offline(True)
    page.locator(".facts h2").click()
    page.keyboard.press("ArrowRight")
    for stage in narrate(opening, 3):
        sentence = page.locator(f".st-key-stage_{stage.number} .chart-box > p").first
        expect(sentence).to_have_text(stage.sentence.replace("\u00a0", " "))

    # A word under the pointer is highlighted everywhere, and tints the French words that attend to it.
    words = opening.words()
    word = page.locator(".player .source .word").nth(1)
    word.hover()
    expect(word).to_have_class(re.compile("pointed"))
    assert page.evaluate(LIT, [words.source_groups[1][0]]) == []
    tints = page.locator(".player .target .word").evaluate_all(
        "(words) => words.map((word) => parseFloat(word.style.getPropertyValue('--weight')) / 100)"
    )
    held = opening.alignment[:, list(words.source_groups[1])].sum(axis=1)
    sums = [held[list(group)] for group in words.target_groups]
    np.testing.assert_allclose(tints, 0.36 * np.sqrt([weights.mean() for weights in sums]), atol=0.012)
    page.mouse.move(2, 2)
    expect(page.locator(".pointing")).to_have_count(0)


@on_both
def test_source_piece_is_selected_held_and_released_everywhere(open_page, opening) -> None:
    page = open_page("?step=3&source=5&word=9&stage=4")
    expect_step(page, 3)
    expect_source(page, 5)
    if page.viewport_size["width"] > 700:
        expect(page.locator(".st-key-stage_4")).to_be_in_viewport()
    linked = {"step": "3", "source": "5", "word": "9", "stage": "4"}
    assert linked.items() <= parameters_of(page.url).items()
    shown, follow = page.locator(".player .shown"), page.locator(".player .follow")

    def expect_released(step: int) -> None:
        expect_source(page, weight_order(opening, step - 1)[0] + 1)
        page.wait_for_url(lambda url: "source=" not in url)
        expect(follow).to_be_hidden()
        expect(shown.locator(".name")).to_have_text("Looks at")
        expect(shown.locator(".why")).to_contain_text("largest weight")

    settled(page)
    page.locator(".facts h2").click()
    page.keyboard.press("ArrowLeft")
    expect_step(page, 2)
    expect_source(page, 5)
    page.keyboard.press("Escape")
    expect_released(2)
    page.keyboard.press("ArrowDown")
    expect_source(page, weight_order(opening, 1)[0] + 2)
    page.wait_for_url(re.compile("source="))
    expect(shown.locator(".name")).to_have_text("Examined")
    expect(shown.locator(".seen").first).to_have_text(page.locator(".player .source .held").inner_text())
    follow.click()
    expect_released(2)
    press_on(page, "energy", float(opening.energies[1, 3]) / 2, 3)
    expect_source(page, 4)
    press_on(page, "growth", 40, 5)
    expect_source(page, 6)
    follow.click()
    expect_released(2)
    page.locator(".player .source .word").first.click()
    expect_source(page, 1)
    page.wait_for_url(re.compile(r"source=1\b"))
    page.locator(".player .source .word").first.click()  # a second click releases it
    expect_released(2)


@pytest.mark.nightly
def test_each_sentence_is_one_tab_stop_that_arrow_keys_move_in(open_page) -> None:
    page = open_page("?step=2&depth=idea")
    settled(page, ".st-key-heatmap")
    english, french = page.locator(".player .source .word"), page.locator(".player .target .word")
    for words in (english, french):
        assert words.evaluate_all("(words) => words.filter((word) => word.tabIndex === 0).length") == 1
    page.locator(".player .source .current").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(english.nth(1)).to_be_focused()
    expect(english.nth(1)).to_have_attribute("aria-pressed", "true")
    expect_step(page, 2)
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.locator(".player .target [aria-current=step]")).to_be_focused()
    page.keyboard.press("Home")
    expect(french.first).to_be_focused()
    expect_step(page, 1)


ROOM = "(text) => text.ownerSVGElement.getBoundingClientRect().right - text.getBoundingClientRect().right"
"""JavaScript for the pixels between a text and the right edge of its drawing."""


def test_other_words_of_the_diagram_are_whole_at_any_width(open_page) -> None:
    page = open_page("?lang=fr&sentence=A girl is riding a red bicycle.")  # “moins de 1 %”, twice
    others = page.locator(".st-key-diagram svg text.foils")
    for width in (1440, 1280, 1150, 1024):
        page.set_viewport_size({"width": width, "height": 900})
        wait_until_still(others)
        assert others.evaluate(ROOM) >= 0, width
