"""Server: cached scripts and fonts, payload endpoints, redirects, warm-up, and garbage collection."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import gzip
import json
import resource
import shutil
import socket
import sys
import urllib.error
import urllib.request
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.types import Message
from websockets import InvalidStatus, Subprotocol
from websockets.asyncio.client import connect

from attnviz import AttnvizError, browser_modules
from attnviz.browser_programs import KATEX, PLOTLY, SERIF, BrowserProgram, serif_style
from attnviz.environment import ATTNVIZ_FRAME_ANCESTORS
from attnviz.translator import Translator
from attnviz.ui import payload_makers, payloads, resources, server
from attnviz.ui.examples import DEFAULT_SENTENCE
from attnviz.ui.pages import translate_page
from attnviz.ui.payloads import address
from attnviz.ui.view import MAIN, View
from tests.benchmarks.visitor import Visitor
from tests.browser.server import running_page, running_server
from tests.conftest import SHIPPED_MODEL
from tests.figures import synthetic


@pytest.fixture(autouse=True)
def _usual_collector() -> Iterator[None]:
    yield
    gc.unfreeze()


PAGE = Starlette(
    routes=[
        *server.ROUTES,
        Route("/", lambda _: HTMLResponse("<p>")),
        Route("/health", lambda _: PlainTextResponse("ok")),
    ],
    middleware=server.MIDDLEWARE,
)


def get(
    path: str, *headers: tuple[str, str], query: str = "", method: str = "GET", content: bytes = b""
) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of what the server answers."""
    messages: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message: Message) -> None:
        messages.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in (("host", "localhost"), *headers)],
    }
    asyncio.run(PAGE(scope, receive, send))
    answer = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    return messages[0]["status"], answer, b"".join(message.get("body", b"") for message in messages[1:])


@pytest.mark.parametrize("known", [PLOTLY, KATEX], ids=lambda known: known.name)
@pytest.mark.parametrize("folder", ["/", "/attention/", "/behind/a/proxy/"])
def test_browser_programs_are_served_compressed_and_cacheable(folder: str, known: BrowserProgram) -> None:
    status, plain, program = get(folder + known.file_name)
    assert status == 200
    assert program.decode() == known.text
    _, packed, smaller = get(folder + known.file_name, ("accept-encoding", "gzip, br"))
    assert packed["content-encoding"] == "gzip"
    assert gzip.decompress(smaller) == program
    assert len(smaller) < len(program) / 2
    for headers in (plain, packed):
        assert "immutable" in headers["cache-control"]
        assert headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize("folder", ["/", "/behind/a/proxy/"])
def test_fonts_are_served_cacheable(folder: str) -> None:
    for font in SERIF:
        assert font.file_name in serif_style()
        status, headers, letters = get(folder + font.file_name)
        assert (status, letters[:4], len(letters)) == (200, b"wOF2", len(font.content))
        assert "immutable" in headers["cache-control"]
    assert get("/attnviz-serif-000000000000.woff2")[0] == 404


@pytest.mark.parametrize("folder", ["/", "/behind/a/proxy/"])
def test_javascript_modules_are_served_compressed_and_cacheable(folder: str) -> None:
    package = Path(server.__file__).parents[1]
    for path in ("ui/components/view.js", "ui/components/chart/chart.js", "figures/constants.js"):
        status, headers, text = get(f"{folder}{browser_modules.url_folder()}/{path}")
        assert status == 200
        assert text == (package / path).read_bytes()
        assert "immutable" in headers["cache-control"]
        assert headers["content-type"].startswith("text/javascript")
        _, packed, smaller = get(f"{folder}{browser_modules.url_folder()}/{path}", ("accept-encoding", "gzip"))
        assert packed["content-encoding"] == "gzip"
        assert gzip.decompress(smaller) == text


@pytest.mark.parametrize("path", ["ui/server.py", "ui/../ui/server.py", "ui/components/nobody.js", "ui/components", ""])
def test_module_folder_serves_only_javascript_modules(path: str) -> None:
    assert get(f"/{browser_modules.url_folder()}/{path}")[0] == 404


def test_module_folder_of_another_version_is_not_found() -> None:
    assert get("/attnviz-modules-000000000000/ui/components/view.js")[0] == 404


@pytest.mark.parametrize("folder", ["/", "/behind/a/proxy/"])
def test_payload_of_a_shown_translation_is_served(folder: str) -> None:
    trace = synthetic.trace()
    path, _, query = address(trace, "energy", "light", every=True).partition("?")
    status, headers, text = get(folder + path, query=query)
    assert status == 200
    assert set(json.loads(text)) == {"template", "values", "captions"}
    assert (headers["content-type"], headers["cache-control"]) == ("application/json", "no-store")
    _, packed, smaller = get(folder + path, ("accept-encoding", "gzip"), query=query)
    assert packed["content-encoding"] == "gzip"
    assert gzip.decompress(smaller) == text
    assert get(folder + path.replace("energy", "energies"), query=query)[0] == 404
    assert get(folder + path, query=query.replace("light", "pink"))[0] == 404


def test_script_of_another_version_is_not_found() -> None:
    assert get(f"/plotly-{PLOTLY.version}-000000000000.js")[0] == 404


def test_only_pages_send_preload_links() -> None:
    _, page, _ = get("/")
    first, *others = page["link"].split(", ")
    assert first == f"<{PLOTLY.file_name}>; rel=preload; as=script"
    folder = f"<{browser_modules.url_folder()}/ui/components"
    for name in ("blocks", "view", "player/player", "chart/selection"):  # direct and indirect imports
        assert f"{folder}/{name}.js>; rel=modulepreload" in others
    assert not any("/machine/" in one for one in others)
    for announced in page["link"].split(", "):
        assert get("/" + announced[1 : announced.index(">")])[0] == 200
    assert "link" not in get("/health")[1]
    assert "link" not in get(f"/{PLOTLY.file_name}")[1]


def test_warm_up_translates_the_default_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model_folder: Path
) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    folder = shutil.copytree(model_folder, tmp_path / "en-fr")
    server.warm_up()
    # From here on, loading a model would fail, so the translation must come from the cache.
    monkeypatch.setattr(Translator, "load", None)
    assert resources.translate(str(folder), "auto", DEFAULT_SENTENCE, 5, None).source_text == DEFAULT_SENTENCE


def test_damaged_model_does_not_stop_the_warm_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model_folder: Path
) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    server.warm_up()
    shutil.copytree(model_folder, tmp_path / "en-fr")
    for name in ("tokenizer.model", "model.safetensors", "config.json"):
        (tmp_path / "en-fr" / name).write_bytes(b"no model")
        server.warm_up()


def test_failed_warm_up_restores_the_switch_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """The warm-up changes the interval at which Python switches threads, and must restore it on errors."""
    usual = sys.getswitchinterval()
    monkeypatch.setattr(translate_page, "cache_default_translation", None)
    with pytest.raises(TypeError):
        server.warm_up()
    assert sys.getswitchinterval() == usual


def test_running_server_sends_preload_links_and_plotly(tmp_path: Path) -> None:
    (tmp_path / "en-fr").mkdir()
    (tmp_path / "en-fr" / "config.json").write_text("{", encoding="utf-8")
    log = tmp_path / "page.log"
    with running_page(tmp_path, log) as address:
        with urllib.request.urlopen(f"{address}/") as page:
            assert page.headers["link"].startswith(f"<{PLOTLY.file_name}>")
        with urllib.request.urlopen(f"{address}/{PLOTLY.file_name}") as program:
            assert program.read().decode() == PLOTLY.text
    assert "Traceback" not in log.read_text(encoding="utf-8")


def test_idle_connections_do_not_shut_visitors_out(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, limits[1]))
        address = stack.enter_context(running_page(tmp_path, tmp_path / "page.log"))
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        place = urlsplit(address)
        for _ in range(300):
            stack.enter_context(socket.create_connection((place.hostname, place.port)))
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=20) as answer:
            assert answer.status == 200


@pytest.mark.parametrize("folder", ["", "attnviz"])
def test_unknown_paths_lead_to_the_app(folder: str, tmp_path: Path) -> None:
    settings = {"STREAMLIT_SERVER_BASE_URL_PATH": folder} if folder else {}
    with running_server(tmp_path, tmp_path / "page.log", **settings) as (address, _):
        for path in ("/nonsense?step=3", "/nonsense/?step=3", "/a/b/c?step=3", "/index.html?step=3"):
            request = urllib.request.Request(address + path, headers={"Accept": "text/html"})
            with urllib.request.urlopen(request) as page:
                assert page.url == f"{address}/?step=3"
        with urllib.request.urlopen(urllib.request.Request(f"{address}/x", headers={"Accept": "text/html"})) as page:
            assert page.url == f"{address}/"
        for path in ("/static/js/of-another-version.js", "/a/static/js/of-another-version.js"):
            with pytest.raises(urllib.error.HTTPError, match="404"), urllib.request.urlopen(address + path):
                pass


@pytest.mark.parametrize("start", [1, *(pytest.param(k, marks=pytest.mark.nightly) for k in range(2, 9))])
def test_seven_visitors_open_the_pages_right_after_a_start(start: int, tmp_path: Path) -> None:
    """The first visitors of *Corpus* use pandas in the thread of a job, while others draw with Plotly."""
    pages = ("corpus", "translate", "corpus", "lab", "why", "transformer", "translate")

    async def visit(address: str, page: str) -> None:
        visitor = await Visitor.arrive(address)
        try:
            for _ in range(3):  # raises Mistake where the page shows an exception
                await visitor.open(f"page={page}")
        finally:
            await visitor.leave()

    async def visit_at_once(address: str) -> list[BaseException | None]:
        return await asyncio.gather(*(visit(address, page) for page in pages), return_exceptions=True)

    log = tmp_path / "page.log"
    with running_page(SHIPPED_MODEL.parent, log) as address:
        mistakes = asyncio.run(visit_at_once(address))
    text = log.read_text(encoding="utf-8")
    assert mistakes == [None] * len(pages), text
    assert "Traceback" not in text, text


def test_idle_server_collects_garbage() -> None:
    """Cycles made after `gc.freeze` are collected, and the objects from before it stay frozen."""
    gc.collect()
    gc.freeze()

    class Ring:
        def __init__(self) -> None:
            self.itself = self

    ring = Ring()
    gone = weakref.ref(ring)
    del ring

    async def some_time() -> None:
        tidying = asyncio.create_task(server.collect_garbage(seconds=0.01))
        for _ in range(500):
            if gone() is None:
                break
            await asyncio.sleep(0.01)
        tidying.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await tidying

    gc.disable()
    try:
        asyncio.run(some_time())
    finally:
        gc.enable()
    assert gone() is None
    assert gc.get_freeze_count() > 10_000


def test_payloads_are_served_as_json_or_attachment(monkeypatch: pytest.MonkeyPatch) -> None:
    makers = {
        "one": lambda asked: {"step": asked.selection.step, "source": asked.selection.source},
        "file": lambda _: b"<script>",
    }
    monkeypatch.setattr(payload_makers, "MAKERS", makers)
    view = View(MAIN, synthetic.trace())
    one, file = (payloads.shown_address(name, {"view": view}, "{selection}").split("?") for name in makers)
    status, headers, body = get(f"/{one[0]}", query=one[1].format(selection="step=3&source=2"))
    assert (status, json.loads(body)) == (200, {"step": 2, "source": 1})
    assert headers["cache-control"] == "no-store"
    _, headers, body = get(f"/{file[0]}")
    assert (headers["content-disposition"], headers["content-type"], body) == (
        "attachment",
        "application/octet-stream",
        b"<script>",
    )


@pytest.mark.parametrize("folder", ["/", "/behind/a/proxy/"])
def test_unknown_request_is_asked_for_and_accepted_only_as_a_page_made_it(folder: str) -> None:
    trace = synthetic.trace()
    path, query = address(trace, "energy", "light", every=True).split("?")
    digest = path.split("/")[1]
    text, made = payloads._TEXTS.find(digest), get(folder + path, query=query)
    assert text is not None
    for cache in (payloads._TEXTS, payloads._SHOWN, payloads._PAYLOADS):
        cache._cached.clear()
        cache._alive.clear()
    assert get(folder + path, query=query)[0] == 428
    assert get(folder + path, method="HEAD")[0] == 428
    for wrong in (text.replace(trace.fingerprint, "0" * 64), "", "é" * 9, f"[{text}]"):
        assert get(folder + path, method="POST", content=wrong.encode())[0] == 403
    assert get(folder + path, method="POST", content=b"0" * (payloads.LONGEST_REQUEST + 1))[0] == 413
    assert get(folder + path, query=query)[0] == 428
    assert get(folder + path, method="POST", content=text.encode())[0] == 204
    assert get(folder + path, method="HEAD")[0] == 200
    assert get(folder + path, query=query) == made


def test_payload_that_cannot_be_made_is_answered_with_the_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bytes:
        raise AttnvizError("Pair 3 has no tokens: é.")

    monkeypatch.setitem(payload_makers.MAKERS, "facts", refuse)  # type: ignore[arg-type]
    path, query = address(synthetic.trace(), "facts", "light", every=True).split("?")
    status, headers, body = get(f"/{path}", query=query)
    assert (status, body.decode()) == (422, "Pair 3 has no tokens: é.")
    assert headers["content-type"].startswith("text/plain")


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    allowed: list[str] = []
    option = st.get_option

    def get(name: str) -> Any:
        return allowed if name == "server.allowedHosts" else option(name)

    monkeypatch.setattr(st, "get_option", get)
    return allowed


def status(host: str, path: str = "/health", kind: str = "http") -> int:
    """Return the status that answers a request, or refuses a connection; 0 where the app itself answers that."""
    answers: list[Message] = []

    async def receive() -> Message:
        return {"type": f"{kind}.connect"}

    async def send(message: Message) -> None:
        answers.append(message)

    scope = {"type": kind, "method": "GET", "path": path, "query_string": b"", "headers": [(b"host", host.encode())]}
    asyncio.run(PAGE(scope, receive, send))
    return int(answers[0].get("status", 0))


@pytest.mark.parametrize(
    ("host", "served"),
    [
        ("localhost:8501", True),
        ("LOCALHOST.", True),
        ("[::1]:8501", True),
        ("a.example.org", True),
        ("example.org", False),
        ("evil.test", False),
        ("localhost.evil.test", False),
        ("evil.test:localhost", False),
        ("localhost@evil.test", False),
        ("", False),
    ],
)
def test_only_allowed_hosts_are_served(hosts: list[str], host: str, served: bool) -> None:
    hosts += ["localhost", "::1", "*.example.org"]
    assert status(host) == (200 if served else 403)
    assert status(host, kind="websocket") == (0 if served else 403)


def test_all_hosts_are_served_without_a_list_of_allowed_hosts(hosts: list[str]) -> None:
    assert not hosts
    assert status("anything.test") == 200
    hosts.append("*")
    assert status("anything.test") == 200


def test_metrics_endpoint_is_hidden(hosts: list[str]) -> None:
    assert status("localhost", "/attnviz/_stcore/metrics") == 404


def test_only_configured_sites_may_frame_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    for named, source in (("", "'self'"), ("https://example.org", "https://example.org")):
        monkeypatch.setenv(ATTNVIZ_FRAME_ANCESTORS, named)
        server._policy.cache_clear()
        assert f"frame-ancestors {source}" in server._policy().split("; ")
    server._policy.cache_clear()


async def open_socket(address: str, host: str) -> None:
    """Open and close the connection of the page under the name of a host."""
    place = urlsplit(address)
    async with connect(
        f"ws://{host}/_stcore/stream", host=place.hostname, port=place.port, subprotocols=[Subprotocol("streamlit")]
    ):
        pass


def test_community_cloud_serves_its_names(tmp_path: Path) -> None:
    with running_page(tmp_path, tmp_path / "page.log", ".deploy/community-cloud/app.py") as address:
        request = urllib.request.Request(address, headers={"Host": "a-name.streamlit.app"})
        with urllib.request.urlopen(request) as answer:
            assert answer.status == 200
        asyncio.run(open_socket(address, "a-name.streamlit.app"))


def test_running_server_filters_hosts_and_endpoints(tmp_path: Path) -> None:
    (tmp_path / "en-fr").mkdir()
    (tmp_path / "en-fr" / "config.json").write_text("{", encoding="utf-8")
    statuses: dict[str, int] = {}
    refusals: set[bytes] = set()
    with running_page(tmp_path, tmp_path / "page.log") as address:
        for host in ("localhost", "[::1]:8501", "evil.test"):
            for path in ("/", "/_stcore/health", "/_stcore/metrics"):
                asked = urllib.request.Request(address + path, headers={"Host": host})
                try:
                    with urllib.request.urlopen(asked) as answer:
                        statuses[f"{host}{path}"] = answer.status
                        policy = answer.headers.get_all("content-security-policy") or []
                        assert path != "/" or "frame-ancestors 'self'" in "; ".join(policy)
                except urllib.error.HTTPError as error:
                    statuses[f"{host}{path}"] = error.code
                    refusals.add(error.read())
        with pytest.raises(InvalidStatus):
            asyncio.run(open_socket(address, "evil.test"))
        asyncio.run(open_socket(address, "localhost:8501"))
    assert all(b"--host" in refusal for refusal in refusals - {b"Not Found"})
    assert statuses == {
        "[::1]:8501/": 200,
        "[::1]:8501/_stcore/health": 200,
        "[::1]:8501/_stcore/metrics": 404,
        "localhost/": 200,
        "localhost/_stcore/health": 200,
        "localhost/_stcore/metrics": 404,
        "evil.test/": 403,
        "evil.test/_stcore/health": 403,
        "evil.test/_stcore/metrics": 403,
    }
