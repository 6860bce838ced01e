"""Load test over an hour with fifty simulated visitors who translate, step, read, open a file, and leave.

    OMP_WAIT_POLICY=PASSIVE python -m tests.benchmarks.open_house --visitors 50 --minutes 60

As people do, each looks for a while at what he has before he asks for more, and leaves after some minutes; another
comes then. One in five of the files is damaged. A line is printed for every few minutes: how many came, what they did,
the seconds until the server had answered, its memory, its threads, and how many sessions failed; at the end, how
memory grew over the second half, by the slope of a line through it.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import json
import random
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.benchmarks.checkouts import count
from tests.benchmarks.visitor import Mistake, Visitor
from tests.benchmarks.visitors import KEPT, median_and_p95, resident, sentence
from tests.browser.server import REPOSITORY, running_server


@dataclass
class Stretch:
    """Counts and times of a few minutes."""

    came: int = 0
    done: collections.Counter[str] = field(default_factory=collections.Counter)
    translated: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)


class House:
    """The visitors who are present, and their actions."""

    def __init__(self, address: str, options: argparse.Namespace) -> None:
        self.address, self.options = address, options
        self.stretch, self.number = Stretch(), 0
        self.until = time.monotonic() + 60 * options.minutes

    async def place(self, seat: int) -> None:
        """One visitor after the other at a seat, until the house closes."""
        await asyncio.sleep(seat * 30 / self.options.visitors)
        while time.monotonic() < self.until:
            self.number += 1
            try:
                await self._visit(self.number)
            except (Mistake, OSError, EOFError, TimeoutError, KeyError, StopIteration) as error:
                self.stretch.mistakes.append(f"visitor {self.number}: {type(error).__name__} {error}")
                await asyncio.sleep(1)

    async def _visit(self, number: int) -> None:
        chance = random.Random(number)
        leaves = min(self.until, time.monotonic() + chance.uniform(60, 420))
        visitor = await Visitor.arrive(self.address)
        self.stretch.came += 1
        try:
            self._did("open", await visitor.open())
            wishes = 0
            while time.monotonic() < leaves:
                self._did("translate", await visitor.translate(*sentence(number, wishes)))
                wishes += 1
                for _ in range(chance.randrange(2, 9)):
                    await asyncio.sleep(chance.uniform(1, 4))
                    self._did("step", await visitor.step())
                self._did("read", await visitor.read())
                await asyncio.sleep(chance.uniform(5, 25))
                if chance.random() < 0.15:
                    self._did("upload", await visitor.upload("links.json", attention_file(chance)))
        finally:
            await visitor.leave()

    def _did(self, what: str, seconds: float) -> None:
        self.stretch.done[what] += 1
        (self.stretch.translated if what == "translate" else self.stretch.others).append(seconds)


def attention_file(chance: random.Random) -> bytes:
    """Return an attention file in the open format; every fifth is cut off."""
    source, target = ([f"w{chance.randrange(10**6)}" for _ in range(chance.randrange(4, 20))] for _ in range(2))
    weights = np.random.default_rng(chance.randrange(2**32)).dirichlet(np.ones(len(source)), len(target))
    content = json.dumps({"source": source, "target": target, "matrix": weights.tolist()}).encode()
    return content[: len(content) // 2] if chance.random() < 0.2 else content


async def keep_open(address: str, process: int, options: argparse.Namespace) -> tuple[list[float], int]:
    """Run the house; return the server's megabytes at the end of each stretch, and how many sessions failed."""
    house, sizes, failed = House(address, options), [], 0
    seats = [asyncio.create_task(house.place(seat)) for seat in range(options.visitors)]
    while time.monotonic() < house.until:
        await asyncio.sleep(min(60 * options.every, max(1, house.until - time.monotonic())))
        past, house.stretch = house.stretch, Stretch()
        sizes.append(resident(process))
        failed += len(past.mistakes)
        minutes = options.minutes - max(0, house.until - time.monotonic()) / 60
        did = "".join(f"{past.done[what]:10}" for what in ("translate", "step", "read", "upload"))
        print(
            f"{minutes:8.0f}{past.came:6}{did}{median_and_p95(past.translated)}{median_and_p95(past.others)}{sizes[-1]:8.0f}"
            f"{threads(process):9}{len(past.mistakes):8}",
            flush=True,
        )
        for mistake in past.mistakes[:3]:
            print(f"  {mistake[:300]}", flush=True)
    await asyncio.gather(*seats)
    return sizes, failed


def threads(process: int) -> int:
    """Return how many threads a process has."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Threads"))


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--visitors", type=count, default=50)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--every", type=float, default=5, help="minutes of a stretch")
    options = parser.parse_args()
    heads = {
        "minutes": 8,
        "came": 6,
        "translate": 10,
        "step": 10,
        "read": 10,
        "upload": 10,
        "transl. s": 9,
        "p95": 6,
        "other s": 9,
        "p95 ": 6,
        "MB": 8,
        "threads": 9,
        "failed": 8,
    }
    print("".join(f"{head:>{width}}" for head, width in heads.items()), flush=True)
    with tempfile.TemporaryDirectory() as logs:
        log, environment = Path(logs) / "page.log", {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(KEPT)}
        with running_server(options.models.resolve(), log, repository=REPOSITORY, **environment) as (address, process):
            sizes, failed = asyncio.run(keep_open(address, process, options))
            time.sleep(KEPT + 25)
            after = resident(process)
        error_lines = [line for line in log.read_text(errors="replace").splitlines() if "Error" in line]
    half = sizes[len(sizes) // 2 :]
    slope = statistics.linear_regression(range(len(half)), half).slope * 60 / options.every if len(half) > 1 else 0.0
    print(
        f"{failed} sessions failed; {len(error_lines)} error lines in the server's log; memory of the second half: "
        f"{slope:+.0f} MB an hour; {after:.0f} MB once all were gone"
    )
    for line in error_lines[:5]:
        print(f"  {line[:300]}")


if __name__ == "__main__":
    main()
