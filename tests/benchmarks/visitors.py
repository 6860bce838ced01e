"""Load test with a class of simultaneous visitors: `python -m tests.benchmarks.visitors --against ../before`.

All arrive within a few seconds. Each opens the page, translates sentences that nobody else has, steps through each, and
then reads: fetches what all pictures are drawn from, where they are not sent along. All of it is done as fast as the
server answers. Times are those from a visitor's asking to the last that the server tells him of it.

Memory is the server's resident set: when it first answers, after one visitor, with all of them still there, and once
they have been gone for longer than Streamlit keeps a session. All the while somebody asks whether the server lives.
After `--seconds` visitors begin nothing new, and the numbers of what they did say so.

With `--words` their sentences are that long, and one more visitor translates short sentences until they have finished:
do long texts delay short ones?
"""

import argparse
import asyncio
import itertools
import random
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.harness import (
    Sample,
    compare_checkouts,
    count,
    options_of,
    processor_time,
    resident,
    seconds_of,
    server_of,
)
from tests.benchmarks.visitor import Mistake, Visitor

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


class Turn(defaultdict[str, list[float]]):
    def __init__(self) -> None:
        super().__init__(list)
        self.mistakes: list[str] = []


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
    """Simulate visitor `number` until the time `until`; return the visitor, or None where the server failed."""
    await asyncio.sleep(options.within * number / options.visitors)
    try:
        visitor = await Visitor.arrive(address)
        turn["page opened, s"].append(await visitor.open())
        for place in range(options.sentences):
            if time.monotonic() < until:
                turn["translated, s"].append(await visitor.translate(*sentence(number, place, options.words)))
            for _ in range(options.steps):
                if time.monotonic() < until:
                    turn["stepped, s"].append(await visitor.step())
            if time.monotonic() < until:
                turn["read, s"].append(await visitor.read())
    except (Mistake, OSError, EOFError) as error:
        turn.mistakes.append(str(error))
        return None
    turn["sent to each, kB"].append(visitor.kilobytes)
    return visitor


async def translate_short(address: str, until: float, options: argparse.Namespace, turn: Turn) -> None:
    """Simulate a visitor who comes last and translates a short sentence every two seconds until the time `until`."""
    await asyncio.sleep(options.within)
    try:
        visitor = await Visitor.arrive(address)
        await visitor.open()
        for place in itertools.takewhile(lambda _: time.monotonic() < until, itertools.count()):
            turn["short ones translated, s"].append(await visitor.translate(*sentence(options.visitors + 1, place)))
            await asyncio.sleep(2)
        await visitor.leave()
    except (Mistake, OSError, EOFError) as error:
        turn.mistakes.append(f"short sentences: {error}")


async def ask_health(address: str, turn: Turn) -> None:
    """Ask twice a second whether the server lives, until cancelled."""
    while True:
        try:
            asked = urllib.request.Request(f"{address}/_stcore/health")
            ask = lambda: seconds_of(lambda: urllib.request.urlopen(asked, timeout=30).close())  # noqa: B023, E731
            turn["sign of life, s"].append(await asyncio.to_thread(ask))
        except OSError as error:
            turn.mistakes.append(f"no sign of life: {error}")
        await asyncio.sleep(0.5)


async def visit(address: str, process: int, options: argparse.Namespace) -> Turn:
    """Send one visitor, then all of them, to the server at `address`; return what came of it."""
    turn = Turn()
    turn["memory at the start, MB"].append(resident(process))
    if first := await stay(address, 0, time.monotonic() + options.seconds, options, Turn()):
        await first.leave()
    turn["memory after one visitor, MB"].append(resident(process))
    until, spent = time.monotonic() + options.seconds, processor_time(process)
    asking = asyncio.create_task(ask_health(address, turn))
    short = asyncio.create_task(translate_short(address, until, options, turn)) if options.words else None
    came = await asyncio.gather(*(stay(address, 1 + i, until, options, turn) for i in range(options.visitors)))
    if short:
        short.cancel()
    turn["memory with all, MB"].append(resident(process))
    turn["server, cpu s"].append(processor_time(process) - spent)
    for visitor in filter(None, came):
        await visitor.leave()
    await asyncio.sleep(KEPT + TIDIED)
    asking.cancel()
    turn["memory after them, MB"].append(resident(process))
    return turn


def measure(folder: Path, options: argparse.Namespace) -> Iterator[Sample]:
    mistakes = list[str]()
    kept = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(KEPT)}
    with server_of(folder, options.models, mistakes, **kept) as server:
        turn = asyncio.run(visit(*server, options))
    mistakes += turn.mistakes
    print("\n".join(mistakes[:5]))
    yield {**turn, "mistakes": float(len(mistakes))}


if __name__ == "__main__":
    parser = options_of(__doc__, server=True)
    parser.add_argument("--visitors", type=count, default=10)
    parser.add_argument("--sentences", type=count, default=2, help="that each translates")
    parser.add_argument("--words", type=count, default=0, help="of each sentence at least, beside one short visitor")
    parser.add_argument("--steps", type=count, default=4, help="that each takes of every sentence")
    parser.add_argument("--within", type=float, default=3, help="seconds in which they arrive")
    compare_checkouts(parser, measure)
