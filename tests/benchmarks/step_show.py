"""Benchmark of the frames in which the diagram shows a step: `python -m tests.benchmarks.step_show`.

A sentence of 14 words. From the press of the button to the last frame, the time between two frames of the browser is
measured (requestAnimationFrame). It should be under 33 milliseconds for 95 % of the frames.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page

from tests.benchmarks.shared import chromium_for, count, opened_page
from tests.browser.server import REPOSITORY

SENTENCE = "Two men in blue shirts are playing guitar on a busy street near home."

MOST = 33
"""Milliseconds."""

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


def frames(page: Page) -> list[float]:
    """Return the milliseconds between the frames of a show of the current step."""
    return [float(time) for time in page.evaluate(_SHOW)]


def report(what: str, times: list[float]) -> str:
    """Return a line with the number of frames, and the share of them that came in time."""
    fast, p95 = sum(time < MOST for time in times), sorted(times)[int(0.95 * len(times))]
    return (
        f"{what}: {len(times)} frames in {sum(times) / 1000:.1f} s, {100 * fast / len(times):.1f} % under {MOST} ms, "
        f"95th percentile {p95:.1f} ms, longest {max(times):.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=REPOSITORY / "models")
    parser.add_argument("--steps", type=count, default=5)
    options = parser.parse_args()
    chromium = chromium_for(parser)
    for level in ("idea", "everything"):
        whole: list[float] = []
        with opened_page(
            chromium, options.models, f"?sentence={quote(SENTENCE)}&depth={level}", last=".st-key-heatmap"
        ) as page:
            page.locator(".diagram .run").scroll_into_view_if_needed()
            page.wait_for_timeout(3000)
            for step in range(1, options.steps + 1):
                whole += (times := frames(page))
                print(report(f"{level}, step {step}", times), flush=True)
                page.locator(".diagram .close").click()
                page.keyboard.press("ArrowRight")
                page.wait_for_timeout(1500)
        print(report(f"{level}, {options.steps} steps", whole), flush=True)


if __name__ == "__main__":
    main()
