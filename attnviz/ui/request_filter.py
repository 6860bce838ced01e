"""ASGI middleware that refuses unknown hosts, uploads beyond a quota, and requests for Streamlit's metrics.

It deletes uploads after a while. It also reads which sites may embed the page, for the Content-Security-Policy.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable

import streamlit as st
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FRAMES_VARIABLE = "ATTNVIZ_FRAME_ANCESTORS"
"""Environment variable with the sites that may embed the page, separated by blanks; without it only its own."""
_METRICS = "/_stcore/metrics"
_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+$")
WINDOW = 600.0
"""Length of the window in which uploads are summed, in seconds; an upload is deleted at its end.

The page reads an upload at its next rerun. Streamlit 1.67 would keep it as long as the session.
"""
SESSION_QUOTA, TOTAL_QUOTA = 128 << 20, 1 << 29
"""Bytes that one session, and all together, may upload in one window, and thus have in memory."""


def frame_ancestors() -> str:
    """Return the value of `frame-ancestors` in the Content-Security-Policy."""
    return os.environ.get(FRAMES_VARIABLE, "").strip() or "'self'"


def is_host_allowed(host: str | None) -> bool:
    """Return whether `server.allowedHosts` contains the host of a request, without its port, or is empty.

    This stops DNS rebinding, where a foreign page's host name resolves to this server and its requests carry that name.
    Streamlit 1.67 checks the host of WebSocket connections only, not of HTTP requests.
    """
    allowed: list[str] = st.get_option("server.allowedHosts") or []
    if not allowed:
        return True
    name = (host or "").rpartition("@")[2].lower()
    name = name[1 : name.find("]")] if name.startswith("[") else name.partition(":")[0]
    name = name.rstrip(".")
    return any(_is_match(name, pattern.strip().lower().rstrip(".")) for pattern in allowed)


def _is_match(name: str, pattern: str) -> bool:
    if pattern == "*":
        return True
    return name.endswith(pattern[1:]) if pattern.startswith("*.") else name == pattern


class UploadQuota:
    """Upload quota in bytes for each session and for all, over a sliding window of ten minutes; thread-safe."""

    def __init__(
        self, visit: int = SESSION_QUOTA, every: int = TOTAL_QUOTA, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Allow `visit` bytes to each session and `every` to all together in ten minutes; `clock` returns seconds."""
        self._visit, self._every, self._clock = visit, every, clock
        self._guard = threading.Lock()
        self._uploads: deque[tuple[float, str, int]] = deque()
        self._sums: OrderedDict[str, int] = OrderedDict()
        self._sum = 0

    def take(self, visit: str, size: int) -> bool:
        """Return whether a session may upload `size` more bytes, and count them if so."""
        with self._guard:
            now = self._clock()
            while self._uploads and now - self._uploads[0][0] > WINDOW:
                _, session, freed = self._uploads.popleft()
                self._sum -= freed
                self._sums[session] -= freed
                if not self._sums[session]:
                    del self._sums[session]
            if self._sums.get(visit, 0) + size > self._visit or self._sum + size > self._every:
                return False
            size = max(size, 1)  # limits the number of empty files too
            self._uploads.append((now, visit, size))
            self._sums[visit] = self._sums.get(visit, 0) + size
            self._sum += size
            return True


class RequestFilter:
    """ASGI middleware that refuses requests before they reach the app."""

    def __init__(self, app: ASGIApp, allowance: UploadQuota | None = None) -> None:
        self._app, self._allowance = app, allowance or UploadQuota()
        self._deletions: set[asyncio.Task[None]] = set()
        """The running deletions: asyncio itself holds tasks only weakly."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the app, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if not is_host_allowed(headers.get("host")):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008, "reason": ""})
                return
            answer = PlainTextResponse("This host is not one of server.allowedHosts.", 403)
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        elif scope["path"].endswith(_METRICS):
            answer = PlainTextResponse("Not Found", 404)
        elif scope["method"] not in ("PUT", "POST") or not (upload := _UPLOAD.search(scope["path"])):
            await self._app(scope, receive, send)
            return
        elif refusal := self._refused_upload(upload[1], headers):
            answer = refusal
        else:
            deletion = {**scope, "method": "DELETE"}  # a copy, since the app changes the scope
            await self._app(scope, receive, send)
            asyncio.get_running_loop().call_later(WINDOW, self._delete, deletion)
            return
        await answer(scope, receive, send)

    def _delete(self, deletion: Scope) -> None:
        """Send the app the request by which a browser deletes its upload; it has the upload's headers."""
        task = asyncio.ensure_future(self._app(deletion, _no_body, _ignore))
        self._deletions.add(task)
        task.add_done_callback(self._deletions.discard)

    def _refused_upload(self, visit: str, headers: Headers) -> PlainTextResponse | None:
        length = headers.get("content-length", "")
        if not length.isascii() or not length.isdigit() or len(length) > 15:
            return PlainTextResponse("An upload must say its length.", 411)
        if not self._allowance.take(visit, int(length)):
            return PlainTextResponse("Too much was uploaded. Try again in ten minutes.", 429)
        return None


async def _no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _ignore(_: Message) -> None:
    """Ignore a response."""


GUARD = Middleware(RequestFilter)
