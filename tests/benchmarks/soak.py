"""Soak test: one visitor at a time, page after page (`python -m tests.benchmarks.soak --seconds 600`).

A visitor opens a page with a sentence that nobody else has, fetches its figures, and leaves; every tenth also fetches
tables and files. Some visitors in a row open the same page. Then a line has the server's resident memory, its growth a
visit since the line before, its threads and its open files. A page may use memory that another has freed, so name one
page with `--pages` to know what it costs. The last line but one is the slope of the memory over the second half of the
time, when the caches are full.

Streamlit keeps the session of a visitor who is gone for `--session-seconds`, so memory grows for that long in any case.
The last memory is of the time after that, when all sessions have ended.
"""

import argparse
import asyncio
import itertools
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from attnviz.ui.pages import PAGE_NAMES
from tests.benchmarks.harness import Sample, compare_checkouts, count, options_of, resident, server_of
from tests.benchmarks.visitor import Mistake, Visitor
from tests.benchmarks.visitors import TIDIED, sentence

FILES_EVERY = 10
"""Number of visits of which one fetches tables and files, too."""
AIM = 100
"""Largest growth in a thousand visits, in MB, once the caches are full."""


async def visit(address: str, page: str, number: int) -> None:
    """Open a page with the sentence of visitor `number`, fetch its figures, and leave."""
    visitor = await Visitor.arrive(address)
    try:
        await visitor.open("" if page == PAGE_NAMES[0] else page, urlencode({"sentence": sentence(number, 0)[0]}))
        await visitor.read(everything=number % FILES_EVERY == 0)
    finally:
        await visitor.leave()


def soak(address: str, process: int, options: argparse.Namespace, mistakes: list[str]) -> Iterator[Sample]:
    """Yield the server's memory after every few visits of the same page, until the time is over, and the slope."""
    until, visits, curve = time.monotonic() + options.seconds, 0, [(0, resident(process))]
    for page in itertools.cycle(options.pages):
        for _ in range(options.visits):
            visits += 1
            try:
                asyncio.run(visit(address, page, visits))
            except (Mistake, OSError, EOFError) as error:
                mistakes.append(f"visit {visits}, {page}: {error}")
        curve.append((visits, resident(process)))
        grown = (curve[-1][1] - curve[-2][1]) / options.visits
        threads, files = (float(len(list(Path(f"/proc/{process}/{name}").iterdir()))) for name in ("task", "fd"))
        memory = {"visits": float(visits), "memory, MB": curve[-1][1], f"{page}: growth a visit, MB": grown}
        yield memory | {"threads": threads, "open files": files}
        if time.monotonic() > until:
            break
    late = curve[len(curve) // 2 :]
    if len(late) > 1:
        slope = statistics.linear_regression(*zip(*late, strict=True)).slope
        yield {f"growth in a thousand visits (aim: {AIM}), MB": 1000 * slope}


def measure(folder: Path, options: argparse.Namespace) -> Iterator[Sample]:
    mistakes, kept = list[str](), {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(options.session_seconds)}
    with server_of(folder, options.models, mistakes, **kept) as server:
        time.sleep(TIDIED)  # its warm-up
        yield from soak(*server, options, mistakes)
        time.sleep(options.session_seconds + 2 * TIDIED)
        yield {"memory after all sessions, MB": resident(server[1])}
    print("\n".join(mistakes[:5]))
    yield {"mistakes": float(len(mistakes))}


if __name__ == "__main__":
    parser = options_of(__doc__, server=True)
    parser.set_defaults(seconds=150)
    parser.add_argument("--pages", nargs="+", choices=PAGE_NAMES, default=PAGE_NAMES, help="to visit, by default all")
    parser.add_argument("--visits", type=count, default=10, help="in a row of the same page")
    parser.add_argument("--session-seconds", type=count, default=30, help="that a session outlives its visitor")
    compare_checkouts(parser, measure, bounded=False)
