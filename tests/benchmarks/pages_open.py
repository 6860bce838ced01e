"""Benchmark of switching pages: `python -m tests.benchmarks.pages_open`.

The server and the browser are warm: every page has been open once. A turn clicks from one page to the next, and opens
and closes an exhibit of *To the transformer*, as a visitor does, and waits for what makes it useful: a thing
that can be pressed, and the first picture, drawn.
Times are from the click to the frame in which both are there, medians of several turns; beside them the largest, and
the processor time that the server took until then. At most 2.5 s, with the machine at rest, is what is aimed at. The
load of the machine is printed, too: where others use it, times say little.

A turn takes about three quarters of a minute.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.benchmarks.chromium import chromium_for
from tests.benchmarks.page_load import PATIENCE, processor_time
from tests.browser.server import CHROMIUM_FLAGS, READY, REPOSITORY, running_server

AIM = 2.5
"""Seconds."""


@dataclass(frozen=True)
class Destination:
    """A page, or a level of the page: the name to click, an element to press there, and the figure that appears first.

    The elements are given by selectors; the part after `>>>` is inside a component with a shadow root.
    """

    name: str
    pressed: str
    drawn: str
    among: str = ".page-links"
    """Where the name stands."""


_ROW = ".attention-row td"
_COMPARISON = ".st-key-compare_models"
DESTINATIONS = (
    Destination("Why attention?", ".st-key-why_sentence textarea", ".st-key-lanes-why >>> .beside > *"),
    Destination(
        "How it learns", "[class*=st-key-timeline] >>> .play", ".st-key-heatmap_1-learns .js-plotly-plot .ytick"
    ),
    Destination("To the transformer", "[class*=st-key-form-] button", _ROW),
    Destination(
        "Compare all five models",
        ".st-key-lanes-answers >>> .next",
        ".st-key-lanes-answers >>> .beside > *",
        _COMPARISON,
    ),
    Destination("Close the comparison", "[class*=st-key-form-] button", _ROW, _COMPARISON),  # the next turn begins so
    Destination("Lab", "[class*=st-key-player] >>> .next", ".st-key-section_panel .js-plotly-plot .main-svg"),
    Destination("Corpus", ".st-key-corpus_sample button", ".st-key-corpus_opening"),
    Destination("Translate", "[class*=st-key-player] >>> .next", READY),
)
"""In the order in which they are gone to."""


@dataclass(frozen=True)
class Opening:
    """Seconds from a click on a link until its page can be used, and of the server's processor time meanwhile."""

    usable: float
    server: float


def go_to(page: Page, to: Destination, process: int) -> Opening:
    """Click the name of a page or level, and wait until it can be used."""
    served = processor_time(process)
    link = page.locator(to.among).get_by_text(to.name, exact=True)
    begun = page.evaluate("() => performance.now()")
    link.click(no_wait_after=True)
    usable = page.wait_for_function(
        """({ pressed, drawn }) => {
          const seen = (names) => {
            const [box, inside] = names.split(" >>> ");
            if (!inside) return document.querySelector(box)?.checkVisibility();
            return [...document.querySelectorAll(`${box} *`)].some((one) => one.shadowRoot?.querySelector(inside));
          };
          return seen(pressed) && seen(drawn) && performance.now();
        }""",
        arg={"pressed": to.pressed, "drawn": to.drawn},
        timeout=PATIENCE,
        polling="raf",
    ).json_value()
    found = Opening((usable - begun) / 1000, processor_time(process) - served)
    page.wait_for_selector("[data-waiting]", state="detached", timeout=PATIENCE)
    page.wait_for_selector('.stApp[data-test-script-state="notRunning"]', timeout=PATIENCE)
    return found


def measured(chromium: str, models: Path, turns: int) -> dict[str, list[Opening]]:
    """Return the measurements of each page in `turns` turns, after one that warms up."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(models.resolve(), Path(folder) / "page.log") as (address, process),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(address)
        page.wait_for_selector(READY, timeout=PATIENCE)
        found: dict[str, list[Opening]] = {one.name: [] for one in DESTINATIONS}
        for turn in range(turns + 1):
            for one in DESTINATIONS:
                opening = go_to(page, one, process)
                if turn:
                    found[one.name].append(opening)
        browser.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=REPOSITORY / "models", help="folder of model folders")
    parser.add_argument("--turns", type=int, default=5, help="times that every page is opened, after a first")
    options = parser.parse_args()
    found = measured(chromium_for(parser), options.models, options.turns)
    print(f"{'page':20} {'click → usable':>15} {'largest':>9} {'server':>9}")
    for name, openings in found.items():
        times = [one.usable for one in openings]
        server = statistics.median(one.server for one in openings)
        late = "" if statistics.median(times) <= AIM else f"  above {AIM} s"
        print(f"{name:20} {statistics.median(times):13.2f} s {max(times):7.2f} s {server:7.2f} s{late}")
    print(f"load average {', '.join(f'{load:.1f}' for load in os.getloadavg())}")


if __name__ == "__main__":
    main()
