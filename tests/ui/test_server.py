"""Server: cached scripts and fonts, payload endpoints, redirects, warm-up, and garbage collection."""

import asyncio
import contextlib
import gc
import hashlib
import resource
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
import streamlit as st
import uvicorn
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

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
SERVER = TestClient(PAGE, "http://localhost", headers={"accept-encoding": "identity"})


def test_programs_are_served_compressed_and_cacheable() -> None:
    """Also below a proxy's folder: the other tests ask for them at the root."""
    ours = {program.file_name: program.text.encode() for program in (PLOTLY, KATEX, APP_MODULES)}
    static = Path(st.__file__).parent / "static"
    streamlits = {str(path.relative_to(static)): path.read_bytes() for path in static.glob("static/*/index.*s")}
    assert {path.rpartition(".")[2] for path in streamlits} == {"css", "js"}
    for path, expected in (ours | streamlits).items():
        plain = SERVER.get(f"/behind/a/proxy/{path}")
        packed = SERVER.get(f"/behind/a/proxy/{path}", headers={"accept-encoding": "gzip, br"})
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.num_bytes_downloaded < len(expected) / 1.5
        for answer in (plain, packed):
            assert (answer.status_code, answer.content) == (200, expected)
            assert "immutable" in answer.headers["cache-control"]
            assert answer.headers["content-type"].startswith("text/css" if path.endswith("css") else "text/javascript")
    assert SERVER.get("/static/js/index.js").status_code == 404
    digest = APP_MODULES.file_name.rpartition("-")[2]
    other = SERVER.get("/" + APP_MODULES.file_name.replace(digest, "0" * 12 + ".js"))
    assert other.status_code == 404, "another version's"


def test_only_pages_send_preload_links() -> None:
    links = SERVER.get("/").headers["link"].split(", ")
    assert links == [
        f"<{PLOTLY.file_name}>; rel=preload; as=script",
        f"<{APP_MODULES.file_name}>; rel=modulepreload",
    ]
    for announced in links:
        assert SERVER.get("/" + announced[1 : announced.index(">")]).status_code == 200
    for path in ("health", PLOTLY.file_name):
        assert "link" not in SERVER.get(f"/{path}").headers


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

        def opened(path: str) -> requests.Response:
            return requests.get(address + path, headers={"Accept": "text/html"}, timeout=60)

        for path in ("/nonsense?step=3", "/nonsense/?step=3", "/a/b/c?step=3", "/index.html?step=3"):
            assert opened(path).url == f"{address}/?step=3"
        assert opened("/x").url == f"{address}/"
        for path in PATHS:
            page = opened(f"/{path}?x=1")
            assert (page.status_code, page.url) == (200, f"{address}/{path}?x=1")
            assert "ETag" not in page.headers, "it would stay the same where our scripts change"
        for path in ("/static/js/of-another-version.js", "/a/static/js/of-another-version.js"):
            assert requests.get(address + path, timeout=60).status_code == 404


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


def test_parts_of_an_answer_are_sent_at_once() -> None:
    async def visit(listener: socket.socket) -> int:
        running = uvicorn.Server(uvicorn.Config(PAGE, lifespan="off", log_config=None))
        serving = asyncio.create_task(running.serve(sockets=[listener]))
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.readuntil(b"ok")
        (connection,) = running.server_state.connections
        on = connection.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        writer.close()
        running.should_exit = True
        await serving
        return on

    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert listener.proto == 0  # as that of Streamlit: asyncio does not set it by itself
        assert asyncio.run(asyncio.wait_for(visit(listener), 30))


def test_unknown_request_is_asked_for_and_accepted_only_as_a_page_made_it() -> None:
    trace = synthetic.trace()
    at = "/" + address(trace, "energy", every=True)
    path, digest = at.split("?")[0], at.split("/")[2]
    text, made = payloads._TEXTS.find(digest), SERVER.get(at)

    def sent(content: str, to: str = path) -> int:
        return SERVER.post(to, content=content.encode()).status_code

    forget(payloads._TEXTS, payloads._SHOWN, payloads._PAYLOADS, alive=True)
    assert SERVER.get(at).status_code == SERVER.head(path).status_code == 428
    for wrong in (text.replace(trace.fingerprint, "0" * 64), "", "é" * 9, f"[{text}]"):
        assert sent(wrong) == 403
    forged = path.replace(digest, hashlib.sha256(text.encode()).hexdigest()[:32])
    assert sent(text, forged) == 403, "a digest without the secret"
    assert sent("0" * (payloads.LONGEST_REQUEST + 1)) == 413
    assert SERVER.get(at).status_code == 428
    assert sent(text) == 204
    assert SERVER.head(path).status_code == 200
    again = SERVER.get(at)
    assert (again.status_code, again.headers, again.content) == (200, made.headers, made.content)


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
    assert SERVER.get("/health", headers={"host": host}).status_code == (200 if served else 403)
    with pytest.raises(WebSocketDisconnect) as closed, SERVER.websocket_connect("/health", headers={"host": host}):
        pass  # only a refused connection is answered with a status
    assert getattr(closed.value, "status_code", 0) == (0 if served else 403)


def test_payload_that_cannot_be_made_is_answered_with_the_sentence(monkeypatch) -> None:
    def refuse(*_: object) -> bytes:
        raise AttnvizError("Pair 3 has no tokens: é.")

    all_pages()
    monkeypatch.setitem(payloads._MAKERS, "facts", payloads._MAKERS["facts"]._replace(maker=refuse))
    answer = SERVER.get("/" + address(synthetic.trace(), "facts", every=True))
    assert (answer.status_code, answer.text) == (422, "Pair 3 has no tokens: é.")
    assert answer.headers["content-type"].startswith("text/plain")
