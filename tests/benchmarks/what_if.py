"""Benchmark of the time from a what-if to the painted translation: `python -m tests.benchmarks.what_if`.

The sentence has fifteen words, the search is greedy. Measured are a bar of the step that is let go, a click on a card,
which translates nothing, and at the level *Idea* the hand at rest on a dragged bar, whose consequence appears beside
it, and the click that freezes the context vector.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page

from attnviz.ui.examples import DEFAULT_SENTENCE
from tests.benchmarks.harness import Sample, compare_checkouts, count, opened_page, options_of, painted
from tests.browser.settled import settled
from tests.browser.test_what_if import grasp

SENTENCE = "The two young men in blue shirts play guitar on the street while a child laughs."
PARTS = {"translation": ".st-key-player", "cards": ".st-key-what_if_cards", "heatmap": ".st-key-heatmap"}


def drag_bar(page: Page, number: int) -> Callable[[], object]:
    """Drag a bar of the step, another each time; return the action that lets it go."""
    grasp(page, 1 + number % (page.locator(".player .source .piece").count() - 1), 0.9)
    return page.mouse.up


def move_hand(page: Page, number: int) -> Callable[[], object]:
    """Press on a bar, another each time; return the action that drags it."""
    hands = page.locator(".st-key-attention .hand")
    box = hands.nth(number % hands.count()).bounding_box()
    x, y = box["x"] + 6, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    return lambda: page.mouse.move(x + (0.3 + 0.03 * (number % 17)) * box["width"], y, steps=4)


def measure(folder: Path, options: argparse.Namespace) -> Iterator[Sample]:
    query = f"?search={quote(options.search)}&sentence="
    with opened_page(folder, options.models, f"{query}{quote(SENTENCE)}&step=3&depth=everything") as page:
        for number in range(options.count):
            settled(page)
            yield painted(page, "bar let go", "pointerup", drag_bar(page, number), PARTS)
        for number in range(options.count):
            settled(page)
            card = page.locator(".what_ifs .card").nth(number % 2)
            yield painted(page, "click on a card", "pointerdown", card.click, PARTS)
    idea = f"{query}{quote(DEFAULT_SENTENCE)}&depth=idea"
    with opened_page(folder, options.models, f"{idea}&step=3&stage=2", ".st-key-heatmap") as page:
        for number in range(options.count):
            parts = {"consequence": ".st-key-attention .consequence"}
            yield painted(page, "hand on a bar", "pointermove", move_hand(page, number), parts)
            page.keyboard.press("Escape")
            page.mouse.up()
    with opened_page(folder, options.models, idea, ".st-key-heatmap") as page:
        for _ in range(options.count):
            settled(page, ".st-key-heatmap")
            choice = page.locator(".st-key-context_choice button").first  # "Try it", or "each step's own"
            yield painted(page, "context frozen or freed", "pointerdown", choice.click, PARTS)


if __name__ == "__main__":
    parser = options_of(__doc__, server=True)
    parser.add_argument("--count", type=count, default=12)
    parser.add_argument("--search", default="greedy")
    compare_checkouts(parser, measure)
