"""A real page in a real Chromium, shared by the tests of this folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.server import CHROMIUM_FLAGS, READY, find_chromium, running_page
from tests.browser.views import WIDE
from tests.conftest import SHIPPED_MODEL

Opener = Callable[..., Page]

expect.set_options(timeout=15_000)


def _missing(what: str) -> NoReturn:
    """Skip the browser tests; in CI, which must run them, fail."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the page with the model that comes with the program, or the `en-fr` of the folder in ATTNVIZ_MODELS."""
    models = Path(os.environ.get("ATTNVIZ_MODELS", SHIPPED_MODEL.parent)).resolve()
    if not (models / "en-fr").is_dir():
        _missing(f"{models} has no model en-fr")
    with running_page(models, tmp_path_factory.mktemp("page") / "page.log") as running:
        yield running


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = find_chromium()
    if path is None:
        _missing("there is no Chromium on this machine; name one in CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(request: pytest.FixtureRequest, chromium: Browser, address: str) -> Iterator[Opener]:
    """Return a function that opens the page; afterwards, no request left the machine and no script failed.

    The window is wide and light unless the test is for `everywhere` or `on_both`, or says otherwise itself.
    """
    view = getattr(request, "param", WIDE)
    strays: list[str] = []
    contexts = []

    def open_at(query: str = "", *, width: int = view.width, height: int = view.height, dark: bool = view.dark) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("request", lambda request: strays.append(request.url) if _leaves(request.url, address) else None)
        page.on("pageerror", lambda error: strays.append(f"script error: {error}"))
        page.goto(f"{address}/{query}")
        page.wait_for_selector(READY, timeout=120_000)  # the first page waits for torch
        return page

    yield open_at
    for context in contexts:
        context.close()
    assert strays == []


def _leaves(url: str, address: str) -> bool:
    return not url.startswith((address, address.replace("http", "ws"), "data:", "blob:"))
