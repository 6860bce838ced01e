"""Request filter of the server: allowed hosts, upload quotas, and hidden endpoints."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import streamlit as st
from starlette.types import Message, Receive, Scope, Send
from websockets import InvalidStatus, Subprotocol
from websockets.asyncio.client import connect

from attnviz.environment import ATTNVIZ_FRAME_ANCESTORS
from attnviz.ui import request_filter, server
from attnviz.ui.request_filter import RequestFilter
from tests.benchmarks.visitor import Visitor
from tests.browser.server import running_page, running_server


async def _app(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"the app"})


def send_request(
    guarded: RequestFilter, path: str = "/", kind: str = "http", method: str = "GET", **headers: str
) -> Message:
    """Return the first message that answers a request."""
    messages: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        messages.append(message)

    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    asyncio.run(guarded({"type": kind, "method": method, "path": path, "headers": named}, receive, send))
    return messages[0]


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    allowed: list[str] = []
    option = st.get_option

    def get(name: str) -> Any:
        return allowed if name == "server.allowedHosts" else option(name)

    monkeypatch.setattr(request_filter.st, "get_option", get)
    return allowed


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
    guarded = RequestFilter(_app)
    assert send_request(guarded, host=host)["status"] == (200 if served else 403)
    refused = send_request(guarded, kind="websocket", host=host)["type"] == "websocket.close"
    assert refused is not served


def test_all_hosts_are_served_without_a_list_of_allowed_hosts(hosts: list[str]) -> None:
    assert not hosts
    assert send_request(RequestFilter(_app), host="anything.test")["status"] == 200
    hosts.append("*")
    assert send_request(RequestFilter(_app), host="anything.test")["status"] == 200


@contextmanager
def upload_server(folder: Path) -> Iterator[str]:
    """Run a page whose quotas are 100 kB for a session and 250 kB for all; yield its address."""
    with running_server(folder, folder / "page.log", "tests/ui/upload_app.py") as (address, _):
        yield address


async def upload(
    address: str, session: str, file: str, size: int = 0, method: str = "PUT", *, token: bool = True
) -> int:
    """Send `size` bytes as the upload of a session; return the status of the answer."""

    def send() -> int:
        with urllib.request.urlopen(f"{address}/_stcore/health") as answer:
            cookie = SimpleCookie(answer.headers["Set-Cookie"])["_streamlit_xsrf"].value
        part = (
            b'--edge\r\nContent-Disposition: form-data; name="x"; filename="x"\r\n\r\n'
            + bytes(size)
            + b"\r\n--edge--\r\n"
        )
        headers = {"Content-Type": "multipart/form-data; boundary=edge"}
        if token:
            headers |= {"X-Xsrftoken": cookie, "Cookie": f"_streamlit_xsrf={cookie}"}
        path = f"{address}/_stcore/upload_file/{session}/{file}"
        request = urllib.request.Request(path, part if size else b"", headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    return await asyncio.to_thread(send)


@asynccontextmanager
async def present(address: str) -> AsyncIterator[str]:
    """Visit the page; yield the id of the session, which then ends."""
    visitor = await Visitor.arrive(address)
    try:
        await visitor.open()
        yield visitor.session
    finally:
        await visitor.leave()


def test_uploads_are_limited_by_what_each_session_and_all_have_in_memory(tmp_path: Path) -> None:
    async def visit(address: str) -> None:
        async with present(address) as last, present(address) as other:
            async with present(address) as first:
                for file, size, status in (("a", 20_000, 204), ("a", 30_000, 204), ("b", 60_000, 429)):
                    assert await upload(address, first, file, size) == status
                assert await upload(address, first, "a", method="DELETE") == 204
                assert await upload(address, first, "c", 80_000) == 204, "a deleted upload counts nothing"
                assert await upload(address, other, "a", 80_000) == 204
                assert await upload(address, last, "a", 80_000) == 429
                assert await upload(address, last, "a", 10_000) == 204
            for _ in range(100):  # until the server has noticed that the first visitor has left
                if (status := await upload(address, last, "b", 50_000)) == 204:
                    break
            assert status == 204, "the uploads of a session that has ended count nothing"

    with upload_server(tmp_path) as address:
        asyncio.run(visit(address))


def test_refused_uploads_count_nothing(tmp_path: Path) -> None:
    async def visit(address: str) -> None:
        async with present(address) as session:
            for count in range(43):
                assert await upload(address, session, f"empty{count}") == 400
            for _ in range(5):
                assert await upload(address, "no-session", "x", 90_000) == 400
                assert await upload(address, session, "x", 90_000, token=False) == 403
                assert await upload(address, session, "x", 90_000, "POST") == 405
                assert await upload(address, session, "x", 110_000) == 429
            assert await upload(address, session, "x", 80_000) == 204

    with upload_server(tmp_path) as address:
        asyncio.run(visit(address))


def test_small_uploads_are_limited_in_number(tmp_path: Path) -> None:
    async def visit(address: str) -> None:
        async with present(address) as session:
            statuses = [await upload(address, session, f"file{count}", 1) for count in range(7)]
        assert statuses == [204] * 6 + [429]

    with upload_server(tmp_path) as address:
        asyncio.run(visit(address))


@pytest.mark.parametrize("length", ["", "-5", "1" * 16])
def test_upload_without_a_length_is_refused(length: str) -> None:
    path = "/below/_stcore/upload_file/visit/some-file"
    answer = send_request(RequestFilter(_app), path, method="PUT", host="localhost", content_length=length)
    assert answer["status"] == 411


def test_upload_is_deleted_after_ten_minutes(hosts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_filter, "LIFETIME", 0.01)
    requests: list[tuple[str, str, list[tuple[bytes, bytes]]]] = []
    path, headers = (
        "/below/_stcore/upload_file/visit/some-file",
        [(b"content-length", b"5"), (b"x-xsrftoken", b"token")],
    )

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        requests.append((scope["method"], scope["path"], scope["headers"]))
        scope["path"] = "changed by a router"
        await _app(scope, receive, send)

    async def upload_and_wait() -> None:
        async def ignore(message: Message) -> None: ...

        scope = {"type": "http", "method": "PUT", "path": path, "headers": headers}
        await RequestFilter(app)(scope, request_filter._no_body, ignore)
        assert [method for method, *_ in requests] == ["PUT"]
        while len(requests) < 2:
            await asyncio.sleep(0.01)

    asyncio.run(upload_and_wait())
    assert requests == [("PUT", path, headers), ("DELETE", path, headers)]


def test_metrics_endpoint_is_hidden(hosts: list[str]) -> None:
    assert send_request(RequestFilter(_app), "/attnviz/_stcore/metrics", host="localhost")["status"] == 404


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
    status: dict[str, int] = {}
    refusals: set[bytes] = set()
    with running_page(tmp_path, tmp_path / "page.log") as address:
        for host in ("localhost", "[::1]:8501", "evil.test"):
            for path in ("/", "/_stcore/health", "/_stcore/metrics"):
                asked = urllib.request.Request(address + path, headers={"Host": host})
                try:
                    with urllib.request.urlopen(asked) as answer:
                        status[f"{host}{path}"] = answer.status
                        policy = answer.headers.get_all("content-security-policy") or []
                        assert path != "/" or "frame-ancestors 'self'" in "; ".join(policy)
                except urllib.error.HTTPError as error:
                    status[f"{host}{path}"] = error.code
                    refusals.add(error.read())
        with pytest.raises(InvalidStatus):
            asyncio.run(open_socket(address, "evil.test"))
        asyncio.run(open_socket(address, "localhost:8501"))
    assert all(b"--host" in refusal for refusal in refusals - {b"Not Found"})
    assert status == {
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
