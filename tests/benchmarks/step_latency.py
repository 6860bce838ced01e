"""Benchmark of the time from a key press or a what-if to what is painted: `python -m tests.benchmarks.step_latency`.

A part counts as painted with the last change that the key press makes to it. One press measures all parts: what is in
the window, the pictures, the equations, the server's verification badge, and the last change of any stage (what is out
of sight waits until 600 milliseconds pass without another key). A what-if is a dragged bar of the step; the search is
greedy.
"""

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote

from tests.benchmarks.harness import QUIET, Sample, compare_checkouts, count, opened_page, options_of, painted
from tests.browser.settled import settled
from tests.browser.test_what_if import grasp

STEPPED = "Two men in blue shirts are playing guitar on a busy street while a small child looks at them and laughs."
CHANGED = "The two young men in blue shirts play guitar on the street while a child laughs."
PICTURES = ("heatmap", "facts", "energy", "softmax", "growth", "state", "maxout", "candidates")
"""Keys of what the browser has for every step; the first two are in the window."""
PARTS = {
    "in the window": ", ".join(f".st-key-{name}" for name in PICTURES[:2]),
    "all pictures": ", ".join(f".st-key-{name}" for name in PICTURES),
    "equations": ".st-key-stages .equation",
    "badge": "[class*='st-key-verification']",
    "last change of a stage": ".st-key-stages",
}
TRANSLATION = {"translation": ".st-key-player", "cards": ".st-key-what_if_cards", "heatmap": ".st-key-heatmap"}


def measure(folder: Path, options: argparse.Namespace) -> Iterator[Sample]:
    with opened_page(folder, options.models, f"?sentence={quote(STEPPED)}&depth=everything") as page:
        page.keyboard.press("Home")
        page.wait_for_timeout(2 * QUIET)
        for number in range(options.steps):
            press = partial(page.keyboard.press, ("ArrowRight", "ArrowLeft")[number // 10 % 2])
            yield painted(page, "step", "keydown", press, PARTS)
    query = f"?search={quote(options.search)}&sentence={quote(CHANGED)}&step=3&depth=everything"
    with opened_page(folder, options.models, query) as page:
        for number in range(options.what_ifs):
            settled(page)
            grasp(page, 1 + number % (page.locator(".player .source .piece").count() - 1), 0.9)
            yield painted(page, "bar let go", "pointerup", page.mouse.up, TRANSLATION)


if __name__ == "__main__":
    parser = options_of(__doc__, server=True)
    parser.add_argument("--steps", type=count, default=40)
    parser.add_argument("--what-ifs", type=count, default=12)
    parser.add_argument("--search", default="greedy", help="of the what-ifs")
    compare_checkouts(parser, measure)
