"""Linked hover: a hovered word or chart cell is highlighted everywhere in the view, without a server request."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attnviz import Trace
from attnviz.translator import Translator
from tests.browser.settled import bring_into_sight, settled
from tests.browser.views import EXAMPLE, on_both, on_screen
from tests.conftest import SHIPPED_MODEL

pytestmark = pytest.mark.browser
Opener = Callable[..., Page]

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
  return {
    column: over(light("heatmap"), "xaxis", middle("heatmap", "xaxis", columns[piece])),
    energy: over(light("energy"), "yaxis", middle("energy", "yaxis", piece)),
    softmax: over(light("softmax"), "yaxis", middle("softmax", "yaxis", piece)),
    strip: over(light("growth"), "yaxis", middle("growth", "yaxis", piece)),
    units: over(light("units"), "yaxis", middle("units", "yaxis", lines[piece])),
    ribbon: document.querySelectorAll(".diagram .ribbon")[piece].classList.contains("seen"),
  };
}"""
ALL = dict.fromkeys(("column", "energy", "softmax", "strip", "units", "ribbon"), True)


@pytest.fixture(scope="module")
def opening() -> Trace:
    """Return the trace of the sentence the page opens with here."""
    if not SHIPPED_MODEL.is_dir():
        pytest.skip("models/en-fr is not there")
    return Translator.load(SHIPPED_MODEL, device="cpu").translate(EXAMPLE, beam=5)


def open_with_diagram(open_page: Opener, query: str = "?step=3") -> Page:
    """Open the page and wait until every highlightable part is drawn."""
    page = open_page(query)
    settled(page)
    page.wait_for_selector(".diagram .ribbon[d]", state="attached")
    return page


def tints(page: Page, name: str) -> Any:
    """Return how strongly each word of a sentence of the player is coloured, as a share of the strongest colour."""
    words = page.locator(f".player {name} .word")
    shares = words.evaluate_all("(words) => words.map((word) => parseFloat(word.style.getPropertyValue('--weight')))")
    return np.array(shares) / 100


def test_hovered_word_is_highlighted_in_every_chart(open_page: Opener, opening: Trace) -> None:
    page = open_with_diagram(open_page)
    asked: list[str] = []
    words = opening.words()
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.context.set_offline(True)
    for k in (1, 3):
        word = page.locator(".player .source .word").nth(k)
        word.hover()
        piece = words.source_groups[k][0]
        expect(word).to_have_class(re.compile("pointed"))
        found = page.evaluate(LIT, [piece])
        assert {name: found[name] for name in ALL} == ALL
        # The attention of each French word to it, averaged over the steps of the word.
        attention = [
            np.mean([opening.alignment[i, list(words.source_groups[k])].sum() for i in group])
            for group in words.target_groups
        ]
        np.testing.assert_allclose(tints(page, ".target"), 0.36 * np.sqrt(attention), atol=0.012)
    page.mouse.move(2, 2)
    expect(page.locator(".pointing")).to_have_count(0)
    assert asked == []


@pytest.mark.nightly
def test_focused_word_is_highlighted_in_every_chart(open_page: Opener, opening: Trace) -> None:
    page = open_with_diagram(open_page)
    page.locator(".player .source .word").nth(1).click()
    page.locator(".player .source .word").nth(1).focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(LIT, [opening.words().source_groups[2][0]]) == ALL
    page.locator(".player .transport .next").focus()
    expect(page.locator(".pointing")).to_have_count(0)


@pytest.mark.nightly
def test_hovered_target_word_shows_its_attention(open_page: Opener, opening: Trace) -> None:
    page = open_with_diagram(open_page)
    words = opening.words()
    page.locator(".player .target .word").nth(1).hover()
    step = words.target_groups[1][0]
    weights = [opening.alignment[step, list(group)].sum() for group in words.source_groups]
    np.testing.assert_allclose(tints(page, ".source"), 0.36 * np.sqrt(weights), atol=0.012)
    expect(page.locator(".st-key-heatmap .cursor .step")).to_have_count(1)
    page.mouse.move(2, 2)
    weights = [opening.alignment[2, list(group)].sum() for group in words.source_groups]
    np.testing.assert_allclose(tints(page, ".source"), 0.36 * np.sqrt(weights), atol=0.012)


def pointer_over(page: Page, key: str, x: float, y: float) -> None:
    """Move the mouse to a point of the axes of a picture."""
    left, top = on_screen(page, key, x, y)
    page.mouse.move(left - 2, top)
    page.mouse.move(left, top)


@pytest.mark.nightly
def test_hovering_a_chart_highlights_the_piece_everywhere(open_page: Opener, opening: Trace) -> None:
    page = open_with_diagram(open_page)
    column = opening.words().source_groups[3][0]
    for key, x, y, piece in (("heatmap", 3, 1, column), ("energy", 1, 2, 2), ("softmax", 1, 2, 2), ("growth", 9, 2, 2)):
        pointer_over(page, key, x, y)
        page.wait_for_selector(".st-key-growth .pointing", state="attached")
        assert page.evaluate(LIT, [piece]) == ALL, key
        expect(page.locator(".player .source .pointed")).to_have_count(1)
        page.mouse.move(2, 2)
        expect(page.locator(".pointing")).to_have_count(0)


@pytest.mark.nightly
@on_both
def test_sticky_bar_shows_both_sentences_with_their_colours(open_page: Opener) -> None:
    page = open_with_diagram(open_page)
    bar = page.locator(".player .bar")
    expect(bar).to_be_hidden()
    bring_into_sight(page.locator(".st-key-stage_4"))
    expect(bar).to_be_visible()
    np.testing.assert_array_equal(tints(page, ".english"), tints(page, ".source"))
    for name, other in ((".english", ".source"), (".french", ".target")):
        here, there = (page.locator(f".player {one} .word").all_text_contents() for one in (name, other))
        assert here == there
    expect(page.locator(".player .french .current")).to_be_in_viewport()
    expect(page.locator(".player .english .current")).to_be_in_viewport()
    height = bar.bounding_box()["height"]
    assert height < 75
    page.keyboard.press("ArrowRight")
    expect(page.locator(".player .french .current")).to_be_in_viewport()
    page.locator(".player .french .word").first.click()
    page.wait_for_function("() => document.querySelector('.st-key-room').attnvizView.step === 0")
    # A stage that is scrolled to is below the sticky bar.
    page.evaluate("document.querySelector('.st-key-stage_2').scrollIntoView({ block: 'start' })")
    assert page.locator(".st-key-stage_2 h3").first.bounding_box()["y"] >= bar.bounding_box()["height"]
