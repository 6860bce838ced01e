"""Benchmark of the time from a what-if to the painted translation: `python tests/benchmarks/what_if.py`.

The sentence has fifteen words, the search is greedy. A what-if counts as painted with the frame in which the new
translation stands among the cards and at the top. Listed separately are the heatmap, the rest of the window, and the
way back by a click on a card, which translates nothing. It takes a minute or two, and prints each what-if as it comes.
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

from tests.benchmarks.chromium import chromium_for, opened_page
from tests.browser.server import REPOSITORY
from tests.browser.settled import settled
from tests.browser.test_intervention_controls import grasp

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


if __name__ == "__main__":
    main()
