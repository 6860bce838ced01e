"""Start Chromium for benchmarks, and open the app in it."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.server import CHROMIUM_FLAGS, READY, REPOSITORY, find_chromium, running_server
from tests.browser.settled import settled
from tests.browser.views import address_with


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
