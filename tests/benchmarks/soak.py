"""Soak test: one visitor at a time, page after page, for ten minutes (`python -m tests.benchmarks.soak`).

A visitor opens a page with a sentence that nobody else has, fetches its figures, and leaves; every tenth also fetches
tables and files. Some visitors in a row open the same page. Then a line has the visits so far, the seconds, the
server's resident memory, its growth a visit since the line before, its threads and its open files. The table at the
end has the growth a visit of each page, over the second half of the time, when the caches are full. A page may use
memory that another has freed, so name one page with `--pages` to know what it costs.

Streamlit keeps the session of a visitor who is gone for two minutes, so memory grows for that long in any case;
`--session-seconds` changes that. The last line is of the time after that, when all sessions have ended.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from attnviz.ui.pages import PAGE_NAMES
from tests.benchmarks.shared import checkout, count, resident
from tests.benchmarks.visitor import Mistake, Visitor
from tests.benchmarks.visitors import TIDIED, sentence
from tests.browser.server import REPOSITORY, running_server

FILES_EVERY = 10
"""Number of visits of which one fetches tables and files, too."""
AIM = 100
"""Largest growth in a thousand visits, in MiB, once the caches are full."""


async def visit(address: str, page: str, number: int) -> None:
    """Open a page with the sentence of visitor `number`, fetch its figures, and leave."""
    visitor = await Visitor.arrive(address)
    try:
        await visitor.open("" if page == PAGE_NAMES[0] else page, urlencode({"sentence": sentence(number, 0)[0]}))
        await visitor.read(everything=number % FILES_EVERY == 0)
    finally:
        await visitor.leave()


@dataclass(frozen=True)
class Turn:
    """Measurements after some visits in a row of the same page."""

    page: str
    visits: int
    """So far, of all pages."""
    seconds: float
    memory: float
    """Resident memory of the server, in MiB."""
    grown: float
    """Growth of the memory since the turn before, in MiB a visit."""


async def soak(address: str, process: int, options: argparse.Namespace) -> tuple[list[Turn], list[str]]:
    """Visit the pages in turn until the time is over; print a line for each turn of a page.

    Return the turns, and what the server failed to do.
    """
    started, before, turns = time.monotonic(), resident(process), list[Turn]()
    visits, pages, mistakes = 0, itertools.cycle(options.pages), list[str]()
    while not turns or turns[-1].seconds < options.seconds:
        page = next(pages)
        for _ in range(options.visits):
            visits += 1
            try:
                await visit(address, page, visits)
            except (Mistake, OSError, EOFError) as error:
                mistakes.append(f"visit {visits}, {page}: {error}")
        now = resident(process)
        turn = Turn(page, visits, time.monotonic() - started, now, (now - before) / options.visits)
        threads, files = (len(list(Path(f"/proc/{process}/{name}").iterdir())) for name in ("task", "fd"))
        print(
            f"{page:12}{visits:7}{turn.seconds:6.0f}{now:9.0f}{turn.grown:+9.2f}{threads:9}{files:7}",
            flush=True,
        )
        turns.append(turn)
        before = now
    return turns, mistakes


def table(turns: list[Turn]) -> str:
    """Return the growth a visit of each page, and that of all by a line through the memory, from the second half."""
    late = [turn for turn in turns if turn.seconds > turns[-1].seconds / 2]
    grown = {page: [turn.grown for turn in late if turn.page == page] for page in dict.fromkeys(t.page for t in late)}
    lines = ["Growth a visit, second half, MiB:"]
    lines += [f"  {page:12}{statistics.mean(values):+7.2f}" for page, values in grown.items()]
    if len(late) > 1:
        slope = statistics.linear_regression([turn.visits for turn in late], [turn.memory for turn in late]).slope
        lines.append(f"A thousand visits: {1000 * slope:+.0f} MiB; the aim is at most {AIM}")
    return "\n".join(lines)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=REPOSITORY / "models", help="folder of model folders")
    parser.add_argument("--checkout", type=checkout, default=REPOSITORY, help="of the server, by default this one")
    parser.add_argument("--seconds", type=count, default=600)
    parser.add_argument("--pages", nargs="+", choices=PAGE_NAMES, default=PAGE_NAMES, help="to visit, by default all")
    parser.add_argument("--visits", type=count, default=10, help="in a row of the same page")
    parser.add_argument("--session-seconds", type=count, default=120, help="that a session outlives its visitor")
    options = parser.parse_args()
    if not Path("/proc/self/status").is_file():
        parser.error("memory is read from /proc, which this machine lacks")
    settings = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(options.session_seconds)}
    with tempfile.TemporaryDirectory() as logs:
        log = Path(logs) / "page.log"
        with running_server(options.models.resolve(), log, repository=options.checkout, **settings) as server:
            time.sleep(TIDIED)  # its warm-up
            print(f"{'page':12}{'visits':>7}{'s':>6}{'MiB':>9}{'a visit':>9}{'threads':>9}{'files':>7}")
            turns, mistakes = asyncio.run(soak(*server, options))
            time.sleep(options.session_seconds + 2 * TIDIED)
            after = resident(server[1])
        mistakes += [line for line in log.read_text(errors="replace").splitlines() if "Error:" in line]
    print(table(turns))
    print(f"{after:.0f} MiB once all sessions have ended; {len(mistakes)} mistakes")
    for mistake in mistakes[:5]:
        print(f"  {mistake[:300]}")


if __name__ == "__main__":
    main()
