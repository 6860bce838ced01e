"""Benchmark of the time from a key press to the painted step: `python -m tests.benchmarks.step_latency`.

The sentence has twenty words or so. A part counts as painted with the last change that the key press makes to it. One
press measures all parts: what is in the window, the pictures, the equations, the server's verification badge, and the
last change of any stage (what is out of sight waits until 600 milliseconds pass without another key). Then the diagram
shows some steps, and the time between two of the browser's frames is measured: 33 milliseconds are fluent.
"""

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page

from tests.benchmarks.harness import QUIET, Sample, compare_checkouts, count, opened_page, options_of, painted

SENTENCE = "Two men in blue shirts are playing guitar on a busy street while a small child looks at them and laughs."
PICTURES = ("heatmap", "facts", "energy", "softmax", "growth", "state", "maxout", "candidates")
"""Keys of what the browser has for every step; the first two are in the window."""
PARTS = {
    "in the window": ", ".join(f".st-key-{name}" for name in PICTURES[:2]),
    "all pictures": ", ".join(f".st-key-{name}" for name in PICTURES),
    "equations": ".st-key-stages .equation",
    "badge": "[class*='st-key-verification']",
    "last change of a stage": ".st-key-stages",
}
# Presses the button, and resolves with the milliseconds between the frames until the show has ended.
_SHOW = """
() => new Promise((resolve) => {
  const run = document.querySelector(".diagram .run"), times = [];
  let before = null;
  run.click();
  const look = (now) => {
    if (before !== null) times.push(now - before);
    before = now;
    if (run.dataset.state === "playing") requestAnimationFrame(look);
    else resolve(times);
  };
  requestAnimationFrame(look);
})
"""


def press(page: Page, times: int, keys: tuple[str, str], kind: str) -> Iterator[Sample]:
    """Yield what each of so many key presses takes: from the first step ten of the first key, ten of the second ..."""
    page.keyboard.press("Home")
    page.wait_for_timeout(2 * QUIET)
    for number in range(times):
        key = keys[number // 10 % 2]
        yield painted(page, kind, "keydown", partial(page.keyboard.press, key), PARTS)


def measure(folder: Path, options: argparse.Namespace) -> Iterator[Sample]:
    address = f"?sentence={quote(SENTENCE)}&depth=everything"
    with opened_page(folder, options.models, address) as page:
        yield from press(page, options.steps, ("ArrowRight", "ArrowLeft"), "step")
        yield from press(page, options.steps // 2, ("ArrowDown", "ArrowUp"), "source piece")
        for show in range(options.shows):
            if show == 0:
                page.locator(".diagram .run").scroll_into_view_if_needed()
                page.wait_for_timeout(3000)
            yield {"frames of the diagram's show, ms": page.evaluate(_SHOW)}
            page.locator(".diagram .close").click()
            page.keyboard.press("ArrowRight")
            page.wait_for_timeout(1500)


if __name__ == "__main__":
    parser = options_of(__doc__, server=True)
    parser.add_argument("--steps", type=count, default=40)
    parser.add_argument("--shows", type=int, default=3, help="0 for checkouts whose diagram has no show")
    compare_checkouts(parser, measure)
