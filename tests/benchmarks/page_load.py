"""Benchmark of opening a page: `python -m tests.benchmarks.page_load --against ../before`.

A turn starts the server and, in a Chromium that has never seen the page, opens it as soon as the server answers; then
it visits again, in new tabs of the same browser, once the model, the translation and the browser's caches are warm.
Times are those from the start of the server, or of the visit, to the frame in which the heatmap is painted, and to
that in which the last picture is. What came over the websocket and over HTTP is counted as it was transferred, and our
own JavaScript as it is once unpacked: files, and kilobytes. Where others use the machine too, the processor time that
server and tab have taken until then says more than the clock.

Each turn takes about half a minute, on a busy machine twice that. At the end one more visit to this checkout, by a
browser with empty caches, shows how the tab spent its time and what came over HTTP: Streamlit, Plotly, KaTeX,
letters, and our own.
"""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import BrowserContext, Playwright, sync_playwright

from tests.benchmarks.shared import add_checkouts, checkouts_by_name, chromium_for, count, processor_time
from tests.browser.server import CHROMIUM_FLAGS, READY, running_server
from tests.browser.views import EXAMPLE

PICTURES = (
    "heatmap",
    "energy",
    "softmax",
    "growth",
    "state",
    "maxout",
    "candidates",
    "energy-decomposition",
    "logit-attribution",
)
"""Keys of the pictures that a page opens with."""

PATIENCE = 120_000
"""Milliseconds to wait for a page."""

_PAINTED = "(ready) => document.querySelector(ready) && performance.timeOrigin + performance.now()"
_DRAWN = """
(names) => names.every((name) => document.querySelector(`.st-key-${name} .js-plotly-plot .main-svg`))
  && performance.timeOrigin + performance.now()
"""

_OUR_SCRIPTS = r"""
() => performance.getEntriesByType("resource")
  .filter(({ name }) => /\/attnviz-[^?]*\.js$/.test(name))
  .map(({ decodedBodySize }) => decodedBodySize)
"""


@dataclass(frozen=True)
class Visit:
    """Measurements of opening a page.

    Seconds from the start of the measurement, seconds of processor time until everything was drawn, kilobytes
    transferred, and the kilobytes of our own JavaScript among them.
    """

    heatmap: float
    pictures: float
    server: float
    tab: float
    websocket: float
    http: float
    files: float
    script: float
    """Kilobytes of our own JavaScript, unpacked."""


@dataclass(frozen=True)
class Turn:
    """Measurements of one start of the server and the visits after it."""

    health: float
    """Seconds from the start of the server to its first answer."""
    first: Visit
    """From the start of the server."""
    again: list[Visit]


def _size(base64: str) -> float:
    return len(base64) * 3 / 4


def visit(context: BrowserContext, address: str, process: int, started: float | None = None) -> Visit:
    """Open the page in a new tab and return its measurements.

    Times count from `started`, seconds since 1970, or else from the beginning of the visit, as does the server's
    processor time, that of `process`.
    """
    page, served = context.new_page(), 0.0 if started else processor_time(process)
    page.add_init_script("performance.setResourceTimingBufferSize(2000)")
    transferred = {"websocket": 0.0, "http": 0.0}

    def add(what: str, size: float) -> None:
        transferred[what] += size / 1000

    watch = context.new_cdp_session(page)
    watch.on("Network.loadingFinished", lambda event: add("http", event["encodedDataLength"]))
    # The payload is in base64.
    watch.on(
        "Network.webSocketFrameReceived", lambda event: add("websocket", len(event["response"]["payloadData"]) * 0.75)
    )
    watch.send("Network.enable")
    watch.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(f"{address}/?sentence={quote(EXAMPLE)}&depth=everything", wait_until="commit")
    begun = started or page.evaluate("() => performance.timeOrigin") / 1000
    heatmap = page.wait_for_function(_PAINTED, arg=READY, timeout=PATIENCE).json_value() / 1000
    pictures = page.wait_for_function(_DRAWN, arg=PICTURES, timeout=PATIENCE).json_value() / 1000
    served = processor_time(process) - served
    metrics = {one["name"]: one["value"] for one in watch.send("Performance.getMetrics")["metrics"]}
    page.wait_for_timeout(1500)  # so that late work of the page does not count for the next visit
    scripts = page.evaluate(_OUR_SCRIPTS)
    page.close()
    ours = len(scripts), sum(scripts) / 1000
    return Visit(heatmap - begun, pictures - begun, served, metrics["TaskDuration"], *transferred.values(), *ours)


@contextmanager
def new_browser(playwright: Playwright, chromium: str) -> Iterator[BrowserContext]:
    """Yield a browser that has not been used, with a profile on disk, so that it caches compiled scripts."""
    with tempfile.TemporaryDirectory() as profile:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=chromium, args=CHROMIUM_FLAGS, viewport={"width": 1440, "height": 900}
        )
        yield context
        context.close()


def turn(playwright: Playwright, chromium: str, folder: Path, options: argparse.Namespace) -> Turn:
    """Start the server of a checkout and visit it."""
    with tempfile.TemporaryDirectory() as logs, new_browser(playwright, chromium) as context:
        started = time.time()
        with running_server(options.models.resolve(), Path(logs) / "page.log", repository=folder) as (address, process):
            health = time.time() - started
            first = visit(context, address, process, started)
            return Turn(health, first, [visit(context, address, process) for _ in range(options.visits)])


_PARTS = {
    r"/plotly-[^/]*\.js": "Plotly",
    r"/katex-[^/]*\.js": "KaTeX",
    r"\.woff2$": "letters",
    r"/static/|/_stcore/": "Streamlit",
    r"/attnviz-(shared-)?payload/": "payloads of the translation",
    r"/attnviz-": "our programs",
}
"""What an address is of, the first that fits."""


def part_of(address: str) -> str:
    """Return the part of the page that an address belongs to; no address means the browser's own work."""
    return next((name for pattern, name in _PARTS.items() if re.search(pattern, address)), "the browser")


def spent(playwright: Playwright, chromium: str, options: argparse.Namespace) -> tuple[Counter[str], Counter[str]]:
    """Return milliseconds of the tab's thread, and kilobytes over HTTP, by part, of a first visit to a warm server."""
    milliseconds, kilobytes, asked = Counter[str](), Counter[str](), dict[str, str]()
    with tempfile.TemporaryDirectory() as logs, running_server(options.models.resolve(), Path(logs) / "page.log") as at:
        with new_browser(playwright, chromium) as context:
            visit(context, *at)
        with new_browser(playwright, chromium) as context:
            page = context.new_page()
            watch = context.new_cdp_session(page)
            watch.on("Network.responseReceived", lambda of: asked.update({of["requestId"]: of["response"]["url"]}))
            watch.on(
                "Network.loadingFinished",
                lambda of: kilobytes.update({part_of(asked.get(of["requestId"], "")): of["encodedDataLength"] / 1000}),
            )
            for order in ("Network.enable", "Profiler.enable", "Profiler.start"):
                watch.send(order)
            page.goto(f"{at[0]}/?sentence={quote(EXAMPLE)}&depth=everything", wait_until="commit")
            page.wait_for_function(_DRAWN, arg=PICTURES, timeout=PATIENCE)
            profile = watch.send("Profiler.stop")["profile"]
    frames = {node["id"]: node["callFrame"] for node in profile["nodes"]}
    for sample, microseconds in zip(profile["samples"], profile["timeDeltas"], strict=True):
        frame = frames[sample]
        if frame["functionName"] != "(idle)":
            milliseconds[part_of(frame["url"])] += microseconds / 1000
    return milliseconds, kilobytes


def row(name: str, turns: list[Turn]) -> str:
    """Return the medians over turns as a line of the table."""
    kinds = [one.first for one in turns], [visit for one in turns for visit in one.again]
    cells = [f"{name[-24:]:24}", f"{statistics.median(one.health for one in turns):8.1f}"]
    for visits in kinds:
        for kind, form in zip(fields(Visit), FORMS, strict=True):
            cells.append(format(statistics.median(getattr(one, kind.name) for one in visits), form))
    return "".join(cells)


FORMS = ("9.2f", "10.2f", "8.2f", "6.2f", "8.0f", "8.0f", "7.0f", "7.0f")

_KINDS = f"{'heatmap':>9}{'pictures':>10}{'server':>8}{'tab':>6}{'ws kB':>8}{'http kB':>8}{'files':>7}{'js kB':>7}"

HEAD = f"""
{"":24}{"first visit, from the start of the server":>71}{"a further visit":>63}
{"seconds and kilobytes":24}{"health":>8}{2 * _KINDS}
""".strip("\n")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_checkouts(parser)
    parser.add_argument("--turns", type=count, default=2)
    parser.add_argument("--visits", type=count, default=5, help="further visits in each turn")
    options = parser.parse_args()
    chromium = chromium_for(parser)
    found: dict[str, list[Turn]] = {name: [] for name in checkouts_by_name(options)}
    print(HEAD, flush=True)
    with sync_playwright() as playwright:
        for number in range(1, options.turns + 1):
            for name, folder in checkouts_by_name(options).items():
                found[name].append(turn(playwright, chromium, folder, options))
                print(row(f"turn {number}, {name}", found[name][-1:]), flush=True)
        profile = spent(playwright, chromium, options)
    print(f"medians over {options.turns} turns with {options.visits} further visits each")
    for name, turns in found.items():
        print(row(name, turns))
    for what, amounts in zip(("ms of the tab's thread", "kB over HTTP"), profile, strict=True):
        print(f"{what}: " + ", ".join(f"{name} {amount:,.0f}" for name, amount in amounts.most_common()))


if __name__ == "__main__":
    main()
