"""Benchmark of the time from a what-if to the painted translation: `python tests/benchmarks/what_if.py`.

The sentence has fifteen words, the search is greedy. A what-if counts as painted with the frame in which the new
translation stands among the cards and at the top. Listed separately are the heatmap, the rest of the window, and the
way back by a click on a card, which translates nothing. Then, at the level *Idea*: from the hand at rest on a dragged
bar to its consequence beside it, and from a click that freezes the context vector to the new translation. It takes a
minute or two, and prints each what-if as it comes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from playwright.sync_api import Page

from attnviz.ui.examples import DEFAULT_SENTENCE
from tests.benchmarks.shared import chromium_for, opened_page
from tests.browser.server import REPOSITORY
from tests.browser.settled import settled
from tests.browser.test_what_if import grasp

SENTENCE = "The two young men in blue shirts play guitar on the street while a child laughs."

# `window.painted` resolves with milliseconds from now to the frame in which each of these is another: the card on show
# with the translation at the top, the heatmap, and what is drawn of the step.
_WATCH = """
() => {
  let cards = null;  // the element whose shadow root has the cards: to look for it in each frame would take a while
  const card = () => {
    if (!cards?.isConnected) {
      cards = [...document.querySelectorAll(".st-key-what_if_cards *")].find(({ shadowRoot }) => shadowRoot);
    }
    return cards?.shadowRoot.querySelector("[aria-current]")?.textContent ?? "";
  };
  const identity = () => document.querySelector(".st-key-room").attnvizView.view?.identity;
  const heatmap = () => JSON.stringify(document.querySelector(".st-key-heatmap .js-plotly-plot")?.data?.[0]?.z ?? null);
  const inWindow = ({ top, bottom }) => bottom > 0 && top < innerHeight;
  const waiting = () =>
    [...document.querySelectorAll("[data-waiting]")].some((box) => inWindow(box.getBoundingClientRect()));
  const before = { card: card(), identity: identity(), heatmap: heatmap() };
  const started = performance.now(), found = {};
  window.painted = new Promise((resolve) => {
    const look = () => {
      const now = performance.now() - started;
      if (!found.translation && card() !== before.card && identity() !== before.identity) found.translation = now;
      if (!found.heatmap && heatmap() !== before.heatmap) found.heatmap = now;
      if (found.translation && found.heatmap && !found.all && !waiting()) found.all = now;
      if (found.all || now > 20000) resolve(found);
      else requestAnimationFrame(look);
    };
    look();
  });
}
"""

WHAT = {"translation": "new translation painted", "heatmap": "heatmap painted", "all": "all in the window painted"}


Act = Callable[[int], Callable[[], object]]
"""Prepares the what-if of a number, and returns the action to measure."""


def measure(page: Page, ready: Act, count: int) -> dict[str, list[float]]:
    """Return milliseconds of so many what-ifs, by what was painted."""
    times: dict[str, list[float]] = {name: [] for name in WHAT}
    for number in range(count):
        settled(page)
        act = ready(number)
        page.evaluate(_WATCH)
        act()
        found = page.evaluate("() => window.painted")
        for name in WHAT:
            times[name].append(float(found[name]))
        print(f"  {number + 1}: {found['translation']:.0f} ms", flush=True)
    return times


def drag_bars(page: Page) -> Act:
    """Return an action that drags a bar of the step, another each time, and releases it."""
    pieces = page.locator(".player .source .piece").count()

    def ready(number: int) -> Callable[[], object]:
        grasp(page, 1 + number % (pieces - 1), 0.9)
        return page.mouse.up

    return ready


def click_cards(page: Page) -> Act:
    """Return an action that clicks alternately on the first and second card."""
    return lambda number: page.locator(".what_ifs .card").nth(number % 2).click


# `window.painted` resolves with milliseconds from the last movement of the mouse to the frame that shows what the
# weights under the hand would do.
_WATCH_HAND = """
() => {
  const box = document.querySelector(".st-key-softmax .consequence");
  let moved = null;
  addEventListener("pointermove", () => { moved = performance.now(); }, { capture: true });
  window.painted = new Promise((resolve) => {
    const look = () => {
      if (moved !== null && !box.hidden && !box.classList.contains("stale")) resolve(performance.now() - moved);
      else requestAnimationFrame(look);
    };
    look();
  });
}
"""

# `window.painted` resolves with milliseconds from a click to the frame in which the translation is another.
_WATCH_FRENCH = """
() => {
  const player = [...document.querySelectorAll(".st-key-player *")].find(({ shadowRoot }) => shadowRoot).shadowRoot;
  const read = () => player.querySelector(".target").textContent, before = read();
  let clicked = null;
  addEventListener("pointerdown", () => { clicked = performance.now(); }, { capture: true, once: true });
  window.painted = new Promise((resolve) => {
    const look = () => {
      if (clicked !== null && read() !== before) resolve(performance.now() - clicked);
      else requestAnimationFrame(look);
    };
    look();
  });
}
"""


def measure_hand(page: Page, count: int) -> list[float]:
    """Return milliseconds from the hand at rest on a bar until its consequence is painted, for `count` drags."""
    times, pieces = [], page.locator(".st-key-softmax .hand").count()
    for number in range(count):
        box = page.locator(".st-key-softmax .hand").nth(number % pieces).bounding_box()
        assert box
        x, y = box["x"] + 6, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.evaluate(_WATCH_HAND)
        page.mouse.move(x + (0.3 + 0.03 * (number % 17)) * box["width"], y, steps=4)
        times.append(float(page.evaluate("() => window.painted")))
        page.keyboard.press("Escape")
        page.mouse.up()
        print(f"  {number + 1}: {times[-1]:.0f} ms", flush=True)
    return times


def measure_freezing(page: Page, count: int) -> list[float]:
    """Return milliseconds from a click that freezes the context vector, or frees it, until the French is painted."""
    times = []
    for number in range(count):
        settled(page, ".st-key-heatmap")
        page.evaluate(_WATCH_FRENCH)
        page.locator(".st-key-context_choice button").first.click()  # "Try it", or "each step's own"
        times.append(float(page.evaluate("() => window.painted")))
        print(f"  {number + 1}: {times[-1]:.0f} ms", flush=True)
    return times


def print_times(what: str, times: list[float]) -> None:
    """Print the median and the 95th percentile."""
    p95 = statistics.quantiles(times, n=20)[-1]
    print(f"{what}: median {statistics.median(times):.0f} ms, 95th percentile {p95:.0f} ms ({len(times)})")


def report(what: str, times: dict[str, list[float]]) -> None:
    """Print a table of medians and 95th percentiles."""
    print(f"{what}\n{'':34}median   95th percentile   (ms)")
    for name, label in WHAT.items():
        p95 = statistics.quantiles(times[name], n=20)[-1]
        print(f"  {label:30}  {statistics.median(times[name]):6.0f}   {p95:6.0f}   of {len(times[name])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=REPOSITORY / "models", help="folder of model folders")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--search", default="greedy")
    options = parser.parse_args()
    query = f"?sentence={quote(SENTENCE)}&step=3&search={quote(options.search)}&depth=everything"
    with opened_page(chromium_for(parser), options.models, query) as page:
        report("A bar let go of", measure(page, drag_bars(page), options.count))
        report("A click on a card", measure(page, click_cards(page), options.count))
    idea = f"?sentence={quote(DEFAULT_SENTENCE)}&search={quote(options.search)}&depth=idea"
    with opened_page(chromium_for(parser), options.models, f"{idea}&step=3&stage=2", last=".st-key-softmax") as page:
        print_times("Hand at rest on a bar to its consequence", measure_hand(page, options.count))
    with opened_page(chromium_for(parser), options.models, idea, last=".st-key-heatmap") as page:
        print_times("Click that freezes the context vector to the new French", measure_freezing(page, options.count))


if __name__ == "__main__":
    main()
