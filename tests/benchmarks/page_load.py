"""Benchmark of opening a page: `python -m tests.benchmarks.page_load --against ../before`.

A turn starts the server and, in a Chromium that has never seen the page, opens it as soon as the server answers; then
it visits again, in new tabs of the same browser, once the model, the translation and the browser's caches are warm.
Times are those from the start of the server, or of the visit, to the frame in which the heatmap is painted, and to
that in which the last picture is. What came over the websocket and over HTTP is counted as it was transferred, and our
own JavaScript as it is once unpacked. Where others use the machine too, the processor time that server and tab have
taken until then says more than the clock.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import BrowserContext

from tests.benchmarks.harness import (
    Sample,
    compare_checkouts,
    count,
    new_browser,
    options_of,
    processor_time,
    server_of,
)
from tests.browser.server import READY
from tests.browser.views import EXAMPLE

_BARS = ("energy", "softmax", "growth", "state", "maxout", "candidates")
PICTURES = ("heatmap", *_BARS, "energy-decomposition", "logit-attribution")
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


def visit(context: BrowserContext, address: str, process: int, kind: str, started: float | None = None) -> Sample:
    """Open the page in a new tab; return its measurements, times from `started` (seconds since 1970) or the visit."""
    page, served = context.new_page(), 0.0 if started else processor_time(process)
    page.add_init_script("performance.setResourceTimingBufferSize(2000)")
    transferred = {"websocket, kB": 0.0, "HTTP, kB": 0.0}

    def add(what: str, size: float) -> None:
        transferred[what] += size / 1000

    watch = context.new_cdp_session(page)
    watch.on("Network.loadingFinished", lambda event: add("HTTP, kB", event["encodedDataLength"]))
    frame = "Network.webSocketFrameReceived"  # the payload is in base64
    watch.on(frame, lambda event: add("websocket, kB", len(event["response"]["payloadData"]) * 0.75))
    watch.send("Network.enable")
    watch.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(f"{address}/?sentence={quote(EXAMPLE)}&depth=everything", wait_until="commit")
    begun = started or page.evaluate("() => performance.timeOrigin") / 1000
    heatmap = page.wait_for_function(_PAINTED, arg=READY, timeout=PATIENCE).json_value() / 1000 - begun
    pictures = page.wait_for_function(_DRAWN, arg=PICTURES, timeout=PATIENCE).json_value() / 1000 - begun
    served = processor_time(process) - served
    metrics = {one["name"]: one["value"] for one in watch.send("Performance.getMetrics")["metrics"]}
    page.wait_for_timeout(1500)  # so that late work of the page does not count for the next visit
    scripts = page.evaluate(_OUR_SCRIPTS)
    page.close()
    found = {"heatmap, s": heatmap, "pictures, s": pictures, "server, cpu s": served}
    found |= {"tab, cpu s": metrics["TaskDuration"]}
    found |= transferred | {"our files": float(len(scripts)), "our script, kB": sum(scripts) / 1000}
    return {f"{kind}: {what}": value for what, value in found.items()}


def measure(folder: Path, options: argparse.Namespace) -> Iterator[Sample]:
    with new_browser() as context:
        started = time.time()
        with server_of(folder, options.models) as (address, process):
            yield {"first answer of the server, s": time.time() - started}
            yield visit(context, address, process, "first visit", started)
            for _ in range(options.visits):
                yield visit(context, address, process, "further visit")


if __name__ == "__main__":
    parser = options_of(__doc__, turns=2, server=True)
    parser.add_argument("--visits", type=count, default=5, help="further visits in each turn")
    compare_checkouts(parser, measure)
