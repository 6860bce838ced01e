"""Server: cached scripts and fonts, payload endpoints, redirects, warm-up, and garbage collection."""

import asyncio
import contextlib
import gc
import gzip
import hashlib
import resource
import shutil
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.types import Message

from attnviz import AttnvizError, Translator
from attnviz.browser_modules import APP_MODULES
from attnviz.browser_programs import KATEX, PLOTLY
from attnviz.ui import payloads, resources, server
from attnviz.ui.examples import DEFAULT_SENTENCE
from attnviz.ui.pages import PATHS, all_pages
from attnviz.ui.payloads import address
from tests.benchmarks.visitor import Visitor
from tests.browser.server import running_server
from tests.conftest import SHIPPED_MODEL
from tests.figures import synthetic
from tests.ui.shown_payloads import forget


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


def exchange(kind: str, path: str, headers: list[tuple[str, str]], received: Message, **scope: Any) -> list[Message]:
    """Return the messages that the server sends when it receives one."""
    messages: list[Message] = []

    async def receive() -> Message:
        return received

    async def send(message: Message) -> None:
        messages.append(message)

    sent = [(name.encode(), value.encode()) for name, value in headers]
    scope = {"method": "GET", "query_string": b""} | scope
    asyncio.run(PAGE({"type": kind, "path": path, "raw_path": path.encode(), "headers": sent} | scope, receive, send))
    return messages


def get(
    path: str, *headers: tuple[str, str], query: str = "", method: str = "GET", content: bytes = b""
) -> tuple[int, dict[str, str], bytes]:
    received = {"type": "http.request", "body": content, "more_body": False}
    given = [("host", "localhost"), *headers]
    messages = exchange("http", path, given, received, method=method, query_string=query.encode())
    answer = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    return messages[0]["status"], answer, b"".join(message.get("body", b"") for message in messages[1:])


def test_programs_are_served_compressed_and_cacheable() -> None:
    """Also below a proxy's folder: the other tests ask for them at the root."""
    for program in (PLOTLY, KATEX, APP_MODULES):
        path, expected = program.file_name, program.text.encode()
        status, plain, content = get("/behind/a/proxy/" + path)
        assert (status, content) == (200, expected)
        _, packed, smaller = get("/behind/a/proxy/" + path, ("accept-encoding", "gzip, br"))
        assert packed["content-encoding"] == "gzip"
        assert gzip.decompress(smaller) == expected
        assert len(smaller) < len(expected) / 1.5
        for headers in (plain, packed):
            assert "immutable" in headers["cache-control"]
            assert headers["content-type"].startswith("text/javascript")
    digest = APP_MODULES.file_name.rpartition("-")[2]
    assert get("/" + APP_MODULES.file_name.replace(digest, "0" * 12 + ".js"))[0] == 404, "another version's"


def test_only_pages_send_preload_links() -> None:
    _, page, _ = get("/")
    assert page["link"].split(", ") == [
        f"<{PLOTLY.file_name}>; rel=preload; as=script",
        f"<{APP_MODULES.file_name}>; rel=modulepreload",
    ]
    for announced in page["link"].split(", "):
        assert get("/" + announced[1 : announced.index(">")])[0] == 200
    assert "link" not in get("/health")[1]
    assert "link" not in get(f"/{PLOTLY.file_name}")[1]


def test_warm_up_translates_the_default_sentence(monkeypatch, tmp_path, model_folder) -> None:
    monkeypatch.setenv("ATTNVIZ_MODELS", str(tmp_path))
    folder = shutil.copytree(model_folder, tmp_path / "en-fr")
    server.warm_up()
    # From here on, loading a model would fail, so the translation must come from the cache.
    monkeypatch.setattr(Translator, "load", None)
    assert resources.translate(folder.name, "auto", DEFAULT_SENTENCE, 5, None).source_text == DEFAULT_SENTENCE


def test_unknown_paths_lead_to_the_app_also_with_many_idle_connections(tmp_path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, limits[1]))
        settings = {"STREAMLIT_SERVER_BASE_URL_PATH": "lab"}  # the name of a page
        address, _ = stack.enter_context(running_server(tmp_path, tmp_path / "page.log", **settings))
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        place = urlsplit(address)
        for _ in range(300):
            stack.enter_context(socket.create_connection((place.hostname, place.port)))

        def opened(path: str) -> str:
            request = urllib.request.Request(address + path, headers={"Accept": "text/html"})
            with urllib.request.urlopen(request, timeout=60) as page:
                return str(page.url)

        for path in ("/nonsense?step=3", "/nonsense/?step=3", "/a/b/c?step=3", "/index.html?step=3"):
            assert opened(path) == f"{address}/?step=3"
        assert opened("/x") == f"{address}/"
        for path in PATHS:
            assert opened(f"/{path}?x=1") == f"{address}/{path}?x=1"
            with urllib.request.urlopen(f"{address}/{path}") as page:
                assert "ETag" not in page.headers, "it would stay the same where our scripts change"
        for path in ("/static/js/of-another-version.js", "/a/static/js/of-another-version.js"):
            with pytest.raises(urllib.error.HTTPError, match="404"), urllib.request.urlopen(address + path):
                pass


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(8))
def test_seven_visitors_open_the_pages_right_after_a_start(start: int, tmp_path) -> None:
    """The first visitors of *Corpus* use pandas in the thread of a job, while others draw with Plotly."""
    pages = ("corpus", "", "corpus", "lab", "why", "transformer", "")

    async def visit(address: str, page: str) -> None:
        visitor = await Visitor.arrive(address)
        for _ in range(3):  # raises Mistake where the page shows an exception
            await visitor.open(page)
        await visitor.leave()

    async def visit_at_once(address: str) -> None:
        await asyncio.gather(*(visit(address, page) for page in pages))

    with running_server(SHIPPED_MODEL.parent, log := tmp_path / "page.log") as (address, _):
        asyncio.run(visit_at_once(address))
    assert "Traceback" not in log.read_text(encoding="utf-8")


def test_unknown_request_is_asked_for_and_accepted_only_as_a_page_made_it() -> None:
    trace = synthetic.trace()
    path, query = address(trace, "energy", every=True).split("?")
    digest = path.split("/")[1]
    text, made = payloads._TEXTS.find(digest), get(f"/{path}", query=query)
    forget(payloads._TEXTS, payloads._SHOWN, payloads._PAYLOADS, alive=True)
    assert get(f"/{path}", query=query)[0] == 428
    assert get(f"/{path}", method="HEAD")[0] == 428
    for wrong in (text.replace(trace.fingerprint, "0" * 64), "", "é" * 9, f"[{text}]"):
        assert get(f"/{path}", method="POST", content=wrong.encode())[0] == 403
    forged = path.replace(digest, hashlib.sha256(text.encode()).hexdigest()[:32])
    assert get(f"/{forged}", method="POST", content=text.encode())[0] == 403, "a digest without the secret"
    assert get(f"/{path}", method="POST", content=b"0" * (payloads.LONGEST_REQUEST + 1))[0] == 413
    assert get(f"/{path}", query=query)[0] == 428
    assert get(f"/{path}", method="POST", content=text.encode())[0] == 204
    assert get(f"/{path}", method="HEAD")[0] == 200
    assert get(f"/{path}", query=query) == made


def status(host: str, kind: str = "http") -> int:
    """Return the status that answers a request, or refuses a connection; 0 where the app itself answers that."""
    first, *_ = exchange(kind, "/health", [("host", host)], {"type": f"{kind}.connect"})
    return int(first.get("status", 0))


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
def test_only_allowed_hosts_are_served(monkeypatch, host: str, served: bool) -> None:
    option, hosts = st.get_option, ["localhost", "::1", "*.example.org"]
    monkeypatch.setattr(st, "get_option", lambda name: hosts if name == "server.allowedHosts" else option(name))
    assert status(host) == (200 if served else 403)
    assert status(host, kind="websocket") == (0 if served else 403)


def test_payload_that_cannot_be_made_is_answered_with_the_sentence(monkeypatch) -> None:
    def refuse(*_: object) -> bytes:
        raise AttnvizError("Pair 3 has no tokens: é.")

    all_pages()
    monkeypatch.setitem(payloads._MAKERS, "facts", payloads._MAKERS["facts"]._replace(maker=refuse))
    path, query = address(synthetic.trace(), "facts", every=True).split("?")
    status, headers, body = get(f"/{path}", query=query)
    assert (status, body.decode()) == (422, "Pair 3 has no tokens: é.")
    assert headers["content-type"].startswith("text/plain")
