"""Request filter of the server: allowed hosts, upload quotas, and hidden endpoints."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from starlette.types import Message, Receive, Scope, Send

from attnviz.ui import request_filter, server
from attnviz.ui.request_filter import RequestFilter, UploadQuota
from tests.browser.server import running_server


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


def upload_status(guarded: RequestFilter, visit: str, size: str) -> int:
    answer = send_request(
        guarded, f"/below/_stcore/upload_file/{visit}/some-file", method="PUT", host="localhost", content_length=size
    )
    return int(answer["status"])


def test_uploads_are_limited_per_visit_and_in_total(hosts: list[str]) -> None:
    now = [0.0]
    guarded = RequestFilter(_app, UploadQuota(visit=100, every=250, clock=lambda: now[0]))
    assert [upload_status(guarded, "first", size) for size in ("60", "60", "40", "1")] == [200, 429, 200, 429]
    assert [upload_status(guarded, name, "100") for name in ("second", "third")] == [200, 429]
    now[0] = 601.0
    assert [upload_status(guarded, name, "100") for name in ("first", "third")] == [200, 200]
    assert upload_status(guarded, "fourth", "") == 411
    assert upload_status(guarded, "fourth", "-5") == 411


def test_upload_is_deleted_after_the_window(hosts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_filter, "WINDOW", 0.01)
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
        await asyncio.sleep(0.1)

    asyncio.run(upload_and_wait())
    assert requests == [("PUT", path, headers), ("DELETE", path, headers)]


def test_empty_uploads_count_against_the_quota() -> None:
    allowance = UploadQuota(visit=10, every=100)
    assert [allowance.take("visit", 0) for _ in range(12)] == [True] * 10 + [True, False] or not allowance.take(
        "visit", 1
    )


def test_metrics_endpoint_is_hidden(hosts: list[str]) -> None:
    assert send_request(RequestFilter(_app), "/attnviz/_stcore/metrics", host="localhost")["status"] == 404


def test_only_configured_sites_may_frame_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    for named, source in (("", "'self'"), ("https://example.org", "https://example.org")):
        monkeypatch.setenv(request_filter.FRAMES_VARIABLE, named)
        server._policy.cache_clear()
        assert f"frame-ancestors {source}" in server._policy().split("; ")
    server._policy.cache_clear()


def test_running_server_filters_hosts_and_endpoints(tmp_path: Path) -> None:
    (tmp_path / "en-fr").mkdir()
    (tmp_path / "en-fr" / "config.json").write_text("{", encoding="utf-8")
    with running_server(tmp_path, tmp_path / "page.log", STREAMLIT_SERVER_ALLOWED_HOSTS="localhost 127.0.0.1") as (
        address,
        _,
    ):
        status: dict[str, int] = {}
        for host in ("localhost", "evil.test"):
            for path in ("/", "/_stcore/health", "/_stcore/metrics"):
                asked = urllib.request.Request(address + path, headers={"Host": host})
                try:
                    with urllib.request.urlopen(asked) as answer:
                        status[f"{host}{path}"] = answer.status
                        policy = answer.headers.get_all("content-security-policy") or []
                        assert path != "/" or "frame-ancestors 'self'" in "; ".join(policy)
                except urllib.error.HTTPError as error:
                    status[f"{host}{path}"] = error.code
    assert status == {
        "localhost/": 200,
        "localhost/_stcore/health": 200,
        "localhost/_stcore/metrics": 404,
        "evil.test/": 403,
        "evil.test/_stcore/health": 403,
        "evil.test/_stcore/metrics": 403,
    }
