"""Benchmark of the time from a key press to the painted step: `python -m tests.benchmarks.step_latency`.

The sentence has twenty words or so. A step counts as painted with the last change that the key press makes to the
heatmap, to the step in short, and to the sentence and pictures of any of its five stages, all of which the browser
draws by itself. Listed separately are another source piece, the equations, the server's verification badge, and the
last change of any stage: what is out of sight waits until 600 milliseconds pass without another key.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page

from tests.benchmarks.shared import add_checkouts, checkouts_by_name, chromium_for, count, opened_page

SENTENCE = "Two men in blue shirts are playing guitar on a busy street while a small child looks at them and laughs."

PICTURES = ("heatmap", "facts", "energy", "softmax", "growth", "state", "maxout", "candidates")
"""Keys of what the browser has for every step."""

IN_WINDOW = ("heatmap", "facts")
"""Keys of what of it is in the window, at its upper end."""

EQUATIONS = ".st-key-stages .katex-html"
BADGE = "[class*='st-key-verification'] button"
"""What is seen by its text, wherever it comes from."""

QUIET = 500
"""Milliseconds without a change after which a step is taken to be complete."""

ALIKE = 3000
"""Milliseconds after which a text is taken to be the same at two steps."""

# `window.step` resolves with the milliseconds from the next key press to the frame of the last change it makes.
_WATCH = """
([quiet, names]) => {
  let started = null;
  addEventListener("keydown", () => { started = performance.now(); }, { capture: true, once: true });
  window.step = new Promise((resolve) => {
    let timer = null;
    const observer = new MutationObserver(() => requestAnimationFrame(() => {
      const painted = performance.now() - started;
      clearTimeout(timer);
      timer = setTimeout(() => { observer.disconnect(); resolve(painted); }, quiet);
    }));
    const what = { subtree: true, childList: true, characterData: true, attributes: true,
      attributeFilter: ["d", "href", "transform", "x", "y", "width", "height"] };
    for (const name of names) {
      observer.observe(document.querySelector(`.st-key-${name}`), what);
    }
  });
}
"""


def _begin(page: Page) -> None:
    """Go to the first step, from which a translation of eleven pieces is long enough."""
    page.keyboard.press("Home")
    page.wait_for_timeout(2 * QUIET)


def measure(page: Page, count: int, *names: str, keys: tuple[str, str] = ("ArrowRight", "ArrowLeft")) -> list[float]:
    """Return the milliseconds that `count` key presses take until the named parts of the page are painted.

    From the first step, the first key is pressed ten times, then the second ten times, and so on.
    """
    _begin(page)
    times: list[float] = []
    for number in range(count):
        page.evaluate(_WATCH, [QUIET, names])
        page.keyboard.press(keys[number // 10 % 2])
        times.append(float(page.evaluate("() => window.step")))
    return times


# `window.step` resolves with the milliseconds from the next key press to the frame of the last change of these texts,
# or with null where the texts of this step equal those of the last.
_READ = """
([quiet, alike, selector]) => {
  const read = () => Array.from(document.querySelectorAll(selector), (node) => node.textContent).join();
  let before = read(), started = null, changed = null;
  addEventListener("keydown", () => { started = performance.now(); }, { capture: true, once: true });
  window.step = new Promise((resolve) => {
    const look = () => {
      const now = read(), time = performance.now();
      if (now !== before) [before, changed] = [now, time];
      if (changed !== null && time - changed > quiet) resolve(changed - started);
      else if (changed === null && started !== null && time - started > alike) resolve(null);
      else requestAnimationFrame(look);
    };
    look();
  });
}
"""


def measure_text(page: Page, count: int, selector: str) -> list[float]:
    """Return the milliseconds that `count` presses of an arrow take until the texts at `selector` have changed.

    The right arrow is pressed ten times, then the left one ten times, and so on. Steps whose texts are the same are
    left out.
    """
    _begin(page)
    times: list[float] = []
    for number in range(count):
        page.evaluate(_READ, [QUIET, ALIKE, selector])
        page.keyboard.press("ArrowLeft" if number // 10 % 2 else "ArrowRight")
        if (painted := page.evaluate("() => window.step")) is not None:
            times.append(float(painted))
    return times


def report(what: str, times: list[float]) -> str:
    """Return a line with the median and the 95th percentile, or that too few steps changed the text."""
    if len(times) < 2:
        return f"{what}: no more than one step changed it"
    p95 = statistics.quantiles(times, n=20)[-1]
    return f"{what}: median {statistics.median(times):.0f} ms, 95th percentile {p95:.0f} ms ({len(times)} steps)"


def turn(chromium: str, folder: Path, options: argparse.Namespace) -> dict[str, list[float]]:
    """Return milliseconds of each kind of change, on the page of a checkout."""
    address = f"?sentence={quote(SENTENCE)}&depth=everything"
    with opened_page(chromium, options.models.resolve(), address, repository=folder) as page:
        measure(page, 20, "stages")
        return {
            "painted step, of it what is in the window": measure(page, options.steps, *IN_WINDOW),
            "painted step, all pictures": measure(page, options.steps, *PICTURES),
            "painted source piece": measure(page, options.steps, *PICTURES, keys=("ArrowDown", "ArrowUp")),
            "painted equations": measure_text(page, options.steps, EQUATIONS),
            "badge": measure_text(page, options.steps, BADGE),
            "the last change of a stage": measure(page, options.steps, "stages"),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_checkouts(parser)
    parser.add_argument("--steps", type=count, default=40)
    parser.add_argument("--turns", type=count, default=1)
    options = parser.parse_args()
    chromium = chromium_for(parser)
    found: dict[str, dict[str, list[float]]] = {name: {} for name in checkouts_by_name(options)}
    for _ in range(options.turns):
        for name, folder in checkouts_by_name(options).items():
            for what, times in turn(chromium, folder, options).items():
                found[name].setdefault(what, []).extend(times)
    print(f"a sentence of {len(SENTENCE.split())} words, from key press to")
    for name, kinds in found.items():
        print(f"{name}:")
        for what, times in kinds.items():
            print(report(f"  {what}", times))


if __name__ == "__main__":
    main()
