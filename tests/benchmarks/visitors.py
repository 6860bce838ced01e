"""Load test with a class of simultaneous visitors: `python -m tests.benchmarks.visitors --against ../before`.

All arrive within a few seconds. Each opens the page, translates sentences that nobody else has, steps through each, and
then reads: fetches what all pictures are drawn from, where they are not sent along. All of it is done as fast as the
server answers. Times are those from a visitor's asking to the last that the server tells him of it.

Memory is the server's resident set: when it first answers, after one visitor, with all of them still there, and once
they have been gone for longer than Streamlit keeps a session. All the while somebody asks whether the server lives, and
is to be answered soon.

A turn of a checkout takes at most two minutes: visitors who have not finished after 90 seconds begin nothing new, and
the count of what they did says so.

With `--words` their sentences are that long, and one more visitor translates short sentences until they have finished.
A second line then has this visitor's times, which show whether long texts delay short ones.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import statistics
import tempfile
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.shared import add_checkouts, checkouts_by_name, count, processor_time, resident
from tests.benchmarks.visitor import Mistake, Visitor
from tests.browser.server import running_server

KEPT = 5
"""Seconds that Streamlit keeps the session of a visitor who is gone; it has two minutes of its own."""

TIDIED = 22
"""Seconds after which the server has given back what it no longer needs."""

_PLACES = ("village", "hospital", "museum", "station", "harbour", "market", "library", "school", "theatre", "bridge")
_KINDS = ("old", "small", "white", "large", "famous", "quiet", "new", "empty", "beautiful", "strange")
_FACTS = (
    "was closed because of the heavy snow",
    "is very close to the house of my sister",
    "has been sold to a company from the north",
    "will be open again at the end of the month",
)


@dataclass
class Turn:
    """Measurements of one turn of a checkout."""

    opened: list[float] = field(default_factory=list)
    translated: list[float] = field(default_factory=list)
    stepped: list[float] = field(default_factory=list)
    read: list[float] = field(default_factory=list)
    """Seconds of each thing done; `read` is of fetching what all pictures of a sentence are drawn from."""
    health: list[float] = field(default_factory=list)
    """Seconds of each answer to whether the server lives."""
    memory: list[float] = field(default_factory=list)
    """Megabytes: at the start, after one visitor, with all of them, after them."""
    kilobytes: list[float] = field(default_factory=list)
    """What each visitor was sent."""
    processor: float = 0.0
    """Seconds of processor time that the server spent on all of them."""
    mistakes: list[str] = field(default_factory=list)
    short: list[float] = field(default_factory=list)
    """Seconds of each translation of the visitor with short sentences."""


def sentence(visitor: int, number: int, words: int = 0) -> tuple[str, str]:
    """Return a sentence unique to the visitor, of at least so many words, and a word that no other sentence has."""
    chance = random.Random(1000 * visitor + number)
    mark = f"{1000 * (visitor + 1) + number}"

    def clause(of: str) -> str:
        return f"the {chance.choice(_KINDS)} {chance.choice(_PLACES)} of {of} {chance.choice(_FACTS)}"

    text = clause(mark)
    while len(text.split()) < words:
        text = f"{text} and {clause('the town')}"
    return f"T{text[1:]}.", mark


async def stay(address: str, number: int, until: float, options: argparse.Namespace, turn: Turn) -> Visitor | None:
    """Simulate visitor `number` until the time `until`; return the visitor, still connected.

    Return None where the server failed.
    """
    await asyncio.sleep(options.within * number / options.visitors)
    try:
        visitor = await Visitor.arrive(address)
        turn.opened.append(await visitor.open())
        for place in range(options.sentences):
            if time.monotonic() < until:
                turn.translated.append(await visitor.translate(*sentence(number, place, options.words)))
            for _ in range(options.steps):
                if time.monotonic() < until:
                    turn.stepped.append(await visitor.step())
            if time.monotonic() < until:
                turn.read.append(await visitor.read())
    except (Mistake, OSError, EOFError) as error:
        turn.mistakes.append(str(error))
        return None
    turn.kilobytes.append(visitor.kilobytes)
    return visitor


async def translate_short(address: str, until: float, options: argparse.Namespace, turn: Turn) -> None:
    """Simulate a visitor who comes last and translates a short sentence every two seconds until the time `until`."""
    await asyncio.sleep(options.within)
    try:
        visitor = await Visitor.arrive(address)
        await visitor.open()
        for place in itertools.count():
            if time.monotonic() > until:
                break
            turn.short.append(await visitor.translate(*sentence(options.visitors + 1, place)))
            await asyncio.sleep(2)
        await visitor.leave()
    except (Mistake, OSError, EOFError) as error:
        turn.mistakes.append(f"short sentences: {error}")


async def ask_health(address: str, turn: Turn) -> None:
    """Ask twice a second whether the server lives, until cancelled."""

    def ask() -> float:
        started = time.perf_counter()
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=30) as answer:
            answer.read()
        return time.perf_counter() - started

    while True:
        try:
            turn.health.append(await asyncio.to_thread(ask))
        except OSError as error:
            turn.mistakes.append(f"no sign of life: {error}")
        await asyncio.sleep(0.5)


async def visit(address: str, process: int, options: argparse.Namespace) -> Turn:
    """Send one visitor, then all of them, to the server at `address`; return what came of it."""
    turn = Turn(memory=[resident(process)])
    if first := await stay(address, 0, time.monotonic() + options.seconds, options, Turn()):
        await first.leave()
    turn.memory.append(resident(process))
    until, spent = time.monotonic() + options.seconds, processor_time(process)
    asking = asyncio.create_task(ask_health(address, turn))
    short = asyncio.create_task(translate_short(address, until, options, turn)) if options.words else None
    came = await asyncio.gather(*(stay(address, 1 + i, until, options, turn) for i in range(options.visitors)))
    if short:
        short.cancel()
    turn.memory.append(resident(process))
    turn.processor = processor_time(process) - spent
    for visitor in filter(None, came):
        await visitor.leave()
    await asyncio.sleep(KEPT + TIDIED)
    asking.cancel()
    turn.memory.append(resident(process))
    return turn


def median_and_p95(values: list[float]) -> str:
    """Return the median and the 95th percentile of some seconds."""
    if len(values) < 2:
        return f"{'-':>8}{'-':>7}"
    return f"{statistics.median(values):8.2f}{statistics.quantiles(values, n=20)[-1]:7.2f}"


def row(name: str, turn: Turn) -> str:
    """Return a line of the table."""
    did = turn.opened, turn.translated, turn.stepped, turn.read
    sent = statistics.median(turn.kilobytes) if turn.kilobytes else 0
    return (
        f"{name[-24:]:24}{''.join(map(median_and_p95, did))}"
        f"{''.join(f'{size:7.0f}' for size in turn.memory)}{sent:8.0f}{median_and_p95(turn.health)}"
        f"{max(turn.health, default=0):7.2f}{turn.processor:8.0f}{sum(map(len, did)):6}{len(turn.mistakes):6}"
    )


HEAD = f"""
{"":24}{"page opened":>15}{"translated":>15}{"stepped":>15}{"read":>15}{"server's memory, MB":>28}{"sent":>8}\
{"health":>22}{"server":>8}
{"seconds":24}{4 * f"{'median':>8}{'p95':>7}"}{"start":>7}{"one":>7}{"all":>7}{"after":>7}{"kB each":>8}\
{"median":>8}{"p95":>7}{"worst":>7}{"cpu s":>8}{"done":>6}{"lost":>6}
""".strip("\n")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_checkouts(parser)
    parser.add_argument("--visitors", type=count, default=10)
    parser.add_argument("--sentences", type=count, default=2, help="that each translates")
    parser.add_argument("--words", type=count, default=0, help="of each sentence at least, beside one short visitor")
    parser.add_argument("--steps", type=count, default=4, help="that each takes of every sentence")
    parser.add_argument("--within", type=float, default=3, help="seconds in which they arrive")
    parser.add_argument("--seconds", type=count, default=90, help="after which nothing new is done")
    parser.add_argument("--turns", type=count, default=1)
    options = parser.parse_args()
    if not Path("/proc/self/status").is_file():
        parser.error("memory is read from /proc, which this machine lacks")
    print(HEAD, flush=True)
    for number in range(1, options.turns + 1):
        for name, folder in checkouts_by_name(options).items():
            with tempfile.TemporaryDirectory() as logs:
                log, environment = Path(logs) / "page.log", {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(KEPT)}
                with running_server(options.models.resolve(), log, repository=folder, **environment) as (
                    address,
                    process,
                ):
                    turn = asyncio.run(visit(address, process, options))
                turn.mistakes += [line for line in log.read_text(errors="replace").splitlines() if "Error:" in line]
            print(row(f"turn {number}, {name}", turn), flush=True)
            if options.words:
                print(f"  short: {len(turn.short)} sentences, median, p95 {median_and_p95(turn.short)}, ", end="")
                print(f"worst {max(turn.short, default=0):.2f}; long: worst {max(turn.translated, default=0):.2f}")
            for mistake in turn.mistakes[:5]:
                print(f"  {mistake}", flush=True)


if __name__ == "__main__":
    main()
