"""Fixtures for browser tests: a running app, a Chromium and a function that opens pages."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from attnviz import Trace
from attnviz.environment import ATTNVIZ_CORPORA
from tests.browser.server import CHROMIUM_FLAGS, READY, find_chromium, running_server
from tests.browser.views import EXAMPLE, WIDE, View, address_with, theme_of
from tests.conftest import SHIPPED_MODEL

Opener = Callable[..., Page]
PATIENCE = 60_000
"""Timeout of an assertion in milliseconds, as of an action: a busy machine draws charts below the window late."""
expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def script() -> str:
    """Return the script of the app that is opened; a module that tests another one overrides this fixture."""
    return "app.py"


@pytest.fixture(scope="session")
def corpora_folder(tmp_path_factory) -> Path:
    """Return the folder of tables of the page *Corpus*, empty at first."""
    return tmp_path_factory.mktemp("corpora")


@pytest.fixture(scope="session")
def start_page(tmp_path_factory, corpora_folder) -> Iterator[Callable[[str], str]]:
    """Return a function that runs a program once, with shipped models or ATTNVIZ_MODELS, and returns its address."""
    models = Path(os.environ.get("ATTNVIZ_MODELS", SHIPPED_MODEL.parent)).resolve()
    if not (models / "en-fr").is_dir():
        pytest.skip(f"{models} has no model en-fr")
    running: dict[str, str] = {}
    with ExitStack() as pages:

        def start(script: str) -> str:
            if script not in running:
                log = tmp_path_factory.mktemp("page") / "page.log"
                settings = {ATTNVIZ_CORPORA: str(corpora_folder)}
                running[script], _ = pages.enter_context(running_server(models, log, script, **settings))
            return running[script]

        yield start


@pytest.fixture
def address(start_page, script) -> str:
    return start_page(script)


@pytest.fixture(scope="session")
def started_chromium() -> Iterator[tuple[BrowserContext, asyncio.AbstractEventLoop]]:
    """Start one Chromium for a worker; return a profile of it, and the event loop that Playwright talks to it in."""
    path = find_chromium()
    if path is None:
        pytest.skip("there is no Chromium on this machine; name one in CHROMIUM")
    with sync_playwright() as playwright:
        loop = asyncio.get_running_loop()
        profile = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS).new_context()
        profile.set_default_timeout(PATIENCE)
        yield profile, loop
        asyncio._set_running_loop(loop)  # Playwright stops in it, and the browser with it


@pytest.fixture(scope="module")
def chromium(started_chromium) -> Iterator[Browser]:
    """Return the worker's browser; hide Playwright's event loop from other modules, whose tests run their own."""
    profile, loop = started_chromium
    asyncio._set_running_loop(loop)
    yield profile.browser
    asyncio._set_running_loop(None)


@pytest.fixture
def profile(started_chromium, chromium) -> BrowserContext:
    """Return a profile with a cache, as a returning visitor has it; as a page is opened, the rest is cleared."""
    return started_chromium[0]


@pytest.fixture
def open_page(request, profile, address) -> Iterator[Opener]:
    """Return a function that opens a page with an empty storage, and waits until it is `ready`, a selector.

    `query` has the parameters of a link; without others, the sentence is EXAMPLE and the level *Everything*, whose
    charts take long to draw: a test that looks at none of them names another level. None is a visit without a link. The
    window is wide and light unless the test is parametrized with a `View`. Afterwards it is asserted that no request
    left the computer or was for what the server does not have, no script failed, and nothing violated the page's
    content security policy.

    The page is asked for reduced motion, except with `motion` and in nightly tests: without a graphics card, drawing
    the shimmer of waiting charts takes a third of the processor time of opening the page (4.8 of 15 s).
    """
    view = getattr(request, "param", WIDE)
    moves = request.node.get_closest_marker("nightly") is not None
    strays: list[str] = []

    def open_at(
        query: str | None = "",
        *,
        path: str = "",
        ready: str = READY,
        width: int = view.width,
        height: int = view.height,
        dark: bool = view.dark,
        motion: bool = moves,
    ) -> Page:
        page = profile.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=theme_of(dark), reduced_motion="no-preference" if motion else "reduce")
        forget = {"origin": address, "storageTypes": "cookies,local_storage,indexeddb,cache_storage"}
        profile.new_cdp_session(page).send("Storage.clearDataForOrigin", forget)
        page.on("request", lambda request: strays.append(request.url) if _leaves(request.url, address) else None)
        # Streamlit looks for its server below the address of the page first.
        missing = lambda one: one.status == 404 and "/_stcore/" not in one.url  # noqa: E731
        page.on("response", lambda one: strays.append(f"{one.status} {one.url}") if missing(one) else None)
        page.on("pageerror", lambda error: strays.append(f"script error: {error}"))
        page.on("console", lambda log: strays.append(log.text) if "Content Security Policy" in log.text else None)
        for name, value in (("sentence", EXAMPLE), ("depth", "everything")):
            if query is not None and f"{name}=" not in query:
                query += f"{'&' if query else '?'}{name}={value}"
        page.goto(f"{address}/{path}{address_with(query or '')}")
        page.wait_for_selector(ready, timeout=5 * PATIENCE)  # the first page waits for torch
        return page

    yield open_at
    for page in profile.pages:
        page.close()
    profile.set_offline(False)
    profile.clear_permissions()
    assert strays == []


def _leaves(url: str, address: str) -> bool:
    return not url.startswith((address, address.replace("http", "ws"), "data:", "blob:"))


@pytest.fixture
def open_from_disk(chromium, tmp_path) -> Iterator[Opener]:
    """Return a function that opens a text as a page from disk, offline; assert that it needs nothing and none fails."""
    faults: list[str] = []
    with ExitStack() as contexts:

        def open_at(text: str, fragment: str = "", view: View = WIDE, **options: Any) -> Page:
            (path := tmp_path / "page.html").write_text(text, encoding="utf-8")
            how = {"viewport": {"width": view.width, "height": view.height}, "color_scheme": theme_of(view.dark)}
            page = contexts.enter_context(chromium.new_context(offline=True, **how | options)).new_page()
            page.on("request", lambda one: faults.append(one.url) if _leaves(one.url, path.as_uri()) else None)
            page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.goto(path.as_uri() + fragment)
            return page

        yield open_at
    assert faults == []


@pytest.fixture(scope="session")
def greedy_trace(shipped_translator) -> Trace:
    """Return EXAMPLE as it is translated by greedy search, with nothing changed."""
    return shipped_translator.translate(EXAMPLE, beam=1)


@pytest.fixture(scope="session")
def opening(shipped_translator) -> Trace:
    return shipped_translator.translate(EXAMPLE, beam=5)
