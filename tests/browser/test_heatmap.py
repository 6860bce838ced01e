"""Layout of the heatmap: cell shape, and labels that stay visible while it is scrolled."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opener
from tests.browser.settled import settled
from tests.browser.views import at_night, on_screen

pytestmark = pytest.mark.browser

TEXT = (
    "When I was a child my grandmother used to tell me stories about the sea and every summer we went to the beach "
    "together to look for the shells that she had described in the long letters which our father kept in a small "
    "wooden box under the bed of the house where we lived until the war had taken everything from us ."
)


def sentence(words: int) -> str:
    """Return a query that opens a sentence of so many words."""
    return f"?sentence={quote(' '.join([*TEXT.split()[: words - 1], '.']))}"


def geometry(page: Page) -> dict[str, Any]:
    """Return the sizes of the heatmap: of its cells, of the chart, and of the box it is scrolled in."""
    found: dict[str, Any] = page.evaluate(
        """() => {
          const scroll = document.querySelector(".st-key-heatmap .scroll");
          const { xaxis, yaxis, _size } = scroll.querySelector(".chart")._fullLayout;
          const [rows, columns] = [yaxis, xaxis].map(({ range }) => Math.abs(range[1] - range[0]));
          return { wide: xaxis._length / columns, high: yaxis._length / rows, box: scroll.clientWidth,
                   chart: scroll.scrollWidth, left: _size.l };
        }"""
    )
    return found


@pytest.mark.parametrize(
    ("words", "least"),
    [
        at_night(3, 0.9),
        at_night(8, 0.9),
        (15, 0.9),
        at_night(25, 0.9),
        at_night(40, 0.7),
        at_night(50, 0.7),
    ],
)
def test_cells_are_nearly_square_and_fit_the_box(open_page: Opener, words: int, least: float) -> None:
    size = geometry(open_page(sentence(words)))
    assert least <= size["wide"] / size["high"] <= 1.6
    assert size["chart"] <= size["box"], "the heatmap scrolls although it fits"


@pytest.mark.nightly
@pytest.mark.parametrize("dark", [False, at_night(True)])
def test_row_labels_and_colour_bar_stay_on_horizontal_scroll(open_page: Opener, dark: bool) -> None:
    page = open_page(sentence(62), width=390, height=844, dark=dark)
    settled(page)
    size = geometry(page)
    assert size["chart"] > size["box"], "nothing is scrolled: nothing was tested"
    rows = page.locator(".st-key-heatmap .rows")
    ticks = page.locator(".st-key-heatmap .ytick text").all_text_contents()
    assert rows.locator("svg").first.locator("text").all_text_contents() == ticks
    before = rows.bounding_box()
    page.evaluate("() => { document.querySelector('.st-key-heatmap .scroll').scrollLeft = 300; }")
    assert rows.bounding_box() == before
    box = rows.locator("svg").first.bounding_box()
    assert 0 <= box["x"] < 30
    assert box["width"] == pytest.approx(size["left"], abs=1)
    assert rows.locator("svg").first.evaluate("(node) => getComputedStyle(node).backgroundColor") == (
        "rgb(23, 23, 26)" if dark else "rgb(251, 250, 246)"
    )
    legend = rows.get_by_text("α = 0").bounding_box()
    assert 0 <= legend["x"] < 390 - 190


@pytest.mark.nightly
def test_column_labels_stay_on_vertical_scroll(open_page: Opener) -> None:
    page = open_page(sentence(62))
    names = page.locator(".st-key-heatmap .names text")
    expect(names).to_have_count(page.locator(".st-key-heatmap .xtick").count())
    page.locator(".st-key-heatmap").evaluate("(node) => node.scrollIntoView()")
    page.mouse.move(700, 450)
    page.mouse.wheel(0, 700)
    page.wait_for_function("() => document.querySelector('.st-key-heatmap .chart').getBoundingClientRect().top < -400")
    first, last = names.first.bounding_box(), names.last.bounding_box()
    assert 0 < first["y"] < 200
    assert 0 < last["y"] < 200
    column = page.locator(".st-key-heatmap .xtick").last.bounding_box()
    assert last["x"] == pytest.approx(column["x"], abs=2), "a name stands above its column"


@pytest.mark.nightly
def test_short_sentence_has_no_sticky_labels(open_page: Opener) -> None:
    page = open_page(sentence(3))
    expect(page.locator(".st-key-heatmap .rows svg, .st-key-heatmap .names svg")).to_have_count(0)


def test_number_of_a_cell_is_that_of_the_panel_of_its_step(open_page: Opener) -> None:
    """Each piece of a word that takes several steps has its own row, with the weights of its own step."""
    page = open_page(f"?sentence={quote('The zyxwvut plays.')}&target={quote('Le zyxwvut joue.')}")
    settled(page)
    (first, last), *_ = page.locator(".player .target .word").evaluate_all(
        "(words) => words.map((word) => [...word.querySelectorAll('.piece')].map((one) => Number(one.dataset.index)))"
        ".filter((steps) => steps.length > 1).map((steps) => [steps[0], steps.at(-1)])"
    )
    assert last > first
    for step in (first, last):
        for column in (0, 2):
            at = on_screen(page, "heatmap", column, step)
            page.mouse.move(5, 5)
            page.mouse.move(*at)
            tooltip = page.locator(".st-key-heatmap .hoverlayer")
            expect(tooltip).to_contain_text("α = ")
            number = float(re.findall(r"α = ([0-9.]+)", str(tooltip.text_content()))[-1])
            page.mouse.click(*at)
            expect(page.locator(".facts h2")).to_have_text(re.compile(f"^Step {step + 1} of "))
            page.wait_for_function(
                """([column, number]) => {
                  const { data } = document.querySelector(".st-key-softmax .js-plotly-plot");
                  const shown = data.find(({ mode, xaxis }) => mode === "text" && xaxis === "x2")?.text[column];
                  return shown && Math.abs(Number(shown) - number) <= 0.0051;
                }""",
                arg=[column, number],
            )
