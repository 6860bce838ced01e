"""What reaches the app: requests under its own names, uploads within bounds, and no numbers of its inside."""

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
from attnviz.ui.request_filter import Allowance, Guard
from tests.browser.server import running_server


async def _app(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"the app"})


def ask(guarded: Guard, path: str = "/", kind: str = "http", method: str = "GET", **headers: str) -> Message:
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
def test_only_the_hosts_that_are_named_are_served(hosts: list[str], host: str, served: bool) -> None:
    hosts += ["localhost", "::1", "*.example.org"]
    guarded = Guard(_app)
    assert ask(guarded, host=host)["status"] == (200 if served else 403)
    refused = ask(guarded, kind="websocket", host=host)["type"] == "websocket.close"
    assert refused is not served


def test_where_no_host_is_named_all_are_served(hosts: list[str]) -> None:
    assert not hosts
    assert ask(Guard(_app), host="anything.test")["status"] == 200
    hosts.append("*")
    assert ask(Guard(_app), host="anything.test")["status"] == 200


def upload(guarded: Guard, visit: str, size: str) -> int:
    answer = ask(
        guarded, f"/below/_stcore/upload_file/{visit}/some-file", method="PUT", host="localhost", content_length=size
    )
    return int(answer["status"])


def test_uploads_are_bounded_for_a_visit_and_for_all(hosts: list[str]) -> None:
    now = [0.0]
    guarded = Guard(_app, Allowance(visit=100, every=250, clock=lambda: now[0]))
    assert [upload(guarded, "first", size) for size in ("60", "60", "40", "1")] == [200, 429, 200, 429]
    assert [upload(guarded, name, "100") for name in ("second", "third")] == [200, 429]
    now[0] = 601.0
    assert [upload(guarded, name, "100") for name in ("first", "third")] == [200, 200]
    assert upload(guarded, "fourth", "") == 411
    assert upload(guarded, "fourth", "-5") == 411


def test_many_empty_uploads_count_too() -> None:
    allowance = Allowance(visit=10, every=100)
    assert [allowance.take("visit", 0) for _ in range(12)] == [True] * 10 + [True, False] or not allowance.take(
        "visit", 1
    )


def test_the_numbers_of_the_server_are_hidden(hosts: list[str]) -> None:
    assert ask(Guard(_app), "/attnviz/_stcore/metrics", host="localhost")["status"] == 404


def test_other_sites_show_the_page_in_a_frame_only_where_the_host_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for named, said in (("", "'self'"), ("https://example.org", "https://example.org")):
        monkeypatch.setenv(request_filter.FRAMES_VARIABLE, named)
        server._policy.cache_clear()
        assert f"frame-ancestors {said}" in server._policy().split("; ")
    server._policy.cache_clear()


def test_the_real_server_is_guarded(tmp_path: Path) -> None:
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
