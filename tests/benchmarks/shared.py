"""What benchmarks share: checkouts that take turns, a page opened in Chromium, processes, exit status."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from attnviz.errors import AttnvizError
from tests.browser.server import CHROMIUM_FLAGS, READY, REPOSITORY, find_chromium, running_server
from tests.browser.settled import settled
from tests.browser.views import address_with


def checkout(text: str) -> Path:
    """Return the folder of a checkout; an `argparse` type."""
    folder = Path(text).resolve()
    if not (folder / "app.py").is_file():
        raise argparse.ArgumentTypeError(f"{text} is no checkout of this project: it has no app.py")
    return folder


def count(text: str) -> int:
    """Return a positive integer; an `argparse` type."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number from 1")
    return int(text)


def add_checkouts(parser: argparse.ArgumentParser) -> None:
    """Give a benchmark its options `--against` and `--models`."""
    parser.add_argument(
        "--against",
        type=checkout,
        nargs="+",
        default=[],
        metavar="FOLDER",
        help="checkouts of other commits that take turns with this one (git worktree add)",
    )
    parser.add_argument(
        "--models", type=Path, default=REPOSITORY / "models", help="folder of model folders, for all of them"
    )


def checkouts_by_name(options: argparse.Namespace) -> dict[str, Path]:
    """Return the checkouts to measure by a short name, this one first."""
    return {"this": REPOSITORY} | {str(folder): folder for folder in options.against}


def chromium_for(parser: argparse.ArgumentParser) -> str:
    """Return the path of Chromium, or end the program with an error of `parser`."""
    found = find_chromium()
    if found is None:
        parser.error("there is no Chromium on this machine; name one in CHROMIUM")
    return found


@contextmanager
def opened_page(
    chromium: str, models: Path, query: str, repository: Path = REPOSITORY, last: str = ".st-key-contrast"
) -> Iterator[Page]:
    """Serve the page of a checkout with the model folders in `models`, and yield it once the chart `last` is drawn.

    `query` is the address's query string.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(models.resolve(), Path(folder) / "page.log", repository=repository) as (address, _),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{address}/{address_with(query)}")
        page.wait_for_selector(READY, timeout=120_000)
        settled(page, last)
        yield page
        browser.close()


def exit_status(run: Callable[[], None]) -> int:
    """Call `run` and return 0; for an AttnvizError, print its sentence on standard error and return 2."""
    try:
        run()
    except AttnvizError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def resident(process: int) -> float:
    """Return the resident memory of a process in megabytes."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def processor_time(process: int) -> float:
    """Return the seconds of processor time that a process has spent."""
    after_its_name = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, after_its_name[11:13])) / os.sysconf("SC_CLK_TCK")
