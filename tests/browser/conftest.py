"""A real page in a real Chromium, shared by the tests of this folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from attnviz import Trace
from attnviz.translator import Translator
from tests.browser.server import CHROMIUM_FLAGS, READY, find_chromium, running_page
from tests.browser.views import EXAMPLE, WIDE
from tests.conftest import SHIPPED_MODEL

Opener = Callable[..., Page]

expect.set_options(timeout=15_000)


def missing(what: str) -> NoReturn:
    """Skip the browser tests; in CI, which must run them, fail."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="module")
def script() -> str:
    """Return the program whose page is opened; a module that looks at another has a fixture of this name."""
    return "app.py"


@pytest.fixture(scope="session")
def start_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Return a function that runs a program, once for all tests, and returns its address.

    Its models are those that come with the program, or those of the folder in ATTNVIZ_MODELS, which has an `en-fr`.
    """
    models = Path(os.environ.get("ATTNVIZ_MODELS", SHIPPED_MODEL.parent)).resolve()
    if not (models / "en-fr").is_dir():
        missing(f"{models} has no model en-fr")
    running: dict[str, str] = {}
    with ExitStack() as pages:

        def start(script: str) -> str:
            if script not in running:
                log = tmp_path_factory.mktemp("page") / "page.log"
                running[script] = pages.enter_context(running_page(models, log, script))
            return running[script]

        yield start


@pytest.fixture
def address(start_page: Callable[[str], str], script: str) -> str:
    """Return where the page is that the tests of a module look at."""
    return start_page(script)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for the tests of a module and no longer: while Playwright runs, no other test has an event loop."""
    path = find_chromium()
    if path is None:
        missing("there is no Chromium on this machine; name one in CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def profile(chromium: Browser) -> Iterator[BrowserContext]:
    """One browser's profile for the tests of a module: what does not change is cached there, as it is for a visitor who
    is not here for the first time."""
    context = chromium.new_context()
    context.set_default_timeout(30_000)
    yield context
    context.close()


@pytest.fixture
def open_page(request: pytest.FixtureRequest, profile: BrowserContext, address: str) -> Iterator[Opener]:
    """Return a function that opens the page, or another at a `path`, at EXAMPLE where no sentence is named and with all
    it can show where no depth is, and waits until it is `ready`, a selector; afterwards, no request left the machine,
    no script failed, and nothing was tried that the page's policy forbids. Nothing that an earlier test kept in the
    browser is there any more.

    The window is wide and light unless the test is for `everywhere` or `on_both`, or says otherwise itself.
    """
    view = getattr(request, "param", WIDE)
    strays: list[str] = []

    def open_at(
        query: str = "",
        *,
        path: str = "",
        ready: str = READY,
        width: int = view.width,
        height: int = view.height,
        dark: bool = view.dark,
    ) -> Page:
        page = profile.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if dark else "light")
        forget = {"origin": address, "storageTypes": "cookies,local_storage,indexeddb,cache_storage"}
        profile.new_cdp_session(page).send("Storage.clearDataForOrigin", forget)
        page.on("request", lambda request: strays.append(request.url) if _leaves(request.url, address) else None)
        page.on("pageerror", lambda error: strays.append(f"script error: {error}"))
        page.on("console", lambda said: strays.append(said.text) if "Content Security Policy" in said.text else None)
        for name, value in (("sentence", quote(EXAMPLE)), ("depth", "everything")):
            if f"{name}=" not in query:
                query += f"{'&' if query else '?'}{name}={value}"
        page.goto(f"{address}/{path}{query}")
        page.wait_for_selector(ready, timeout=120_000)  # the first page waits for torch
        return page

    yield open_at
    for page in profile.pages:
        page.close()
    profile.set_offline(False)
    profile.clear_permissions()
    assert strays == []


def _leaves(url: str, address: str) -> bool:
    return not url.startswith((address, address.replace("http", "ws"), "data:", "blob:"))


@pytest.fixture(scope="session")
def translator() -> Translator[Trace]:
    """Return the translator of the model that the page opens with."""
    if not SHIPPED_MODEL.is_dir():
        missing("models/en-fr is not there")
    return Translator.load(SHIPPED_MODEL, device="cpu")


@pytest.fixture(scope="session")
def first(translator: Translator[Trace]) -> Trace:
    """Return EXAMPLE as it is translated by greedy search, with nothing changed."""
    return translator.translate(EXAMPLE)
