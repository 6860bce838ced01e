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
from tests.benchmarks.harness import Sample, compare, count, of_checkouts, opened_page, options_of, painted
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
    assert box
    x, y = box["x"] + 6, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    return lambda: page.mouse.move(x + (0.3 + 0.03 * (number % 17)) * box["width"], y, steps=4)


def measure(folder: Path, options: argparse.Namespace) -> Iterator[Sample]:
    """Yield what each what-if takes on the page of a checkout."""
    query = f"?search={quote(options.search)}&sentence="
    with opened_page(folder, options.models, f"{query}{quote(SENTENCE)}&step=3&depth=everything") as page:
        for number in range(options.count):
            settled(page)
            yield _named("bar let go", painted(page, "pointerup", drag_bar(page, number), PARTS))
        for number in range(options.count):
            settled(page)
            card = page.locator(".what_ifs .card").nth(number % 2)
            yield _named("click on a card", painted(page, "pointerdown", card.click, PARTS))
    idea = f"{query}{quote(DEFAULT_SENTENCE)}&depth=idea"
    with opened_page(folder, options.models, f"{idea}&step=3&stage=2", ".st-key-heatmap") as page:
        for number in range(options.count):
            parts = {"consequence": ".st-key-attention .consequence"}
            yield _named("hand on a bar", painted(page, "pointermove", move_hand(page, number), parts))
            page.keyboard.press("Escape")
            page.mouse.up()
    with opened_page(folder, options.models, idea, ".st-key-heatmap") as page:
        for _ in range(options.count):
            settled(page, ".st-key-heatmap")
            choice = page.locator(".st-key-context_choice button").first  # "Try it", or "each step's own"
            yield _named("context frozen or freed", painted(page, "pointerdown", choice.click, PARTS))


def _named(kind: str, found: Sample) -> Sample:
    return {f"{kind}: {name}": value for name, value in found.items()}


def main() -> None:
    """Run the benchmark."""
    parser = options_of(__doc__, server=True)
    parser.add_argument("--count", type=count, default=12)
    parser.add_argument("--search", default="greedy")
    options = parser.parse_args()
    compare(of_checkouts(options, lambda folder: measure(folder, options)), options)


if __name__ == "__main__":
    main()
