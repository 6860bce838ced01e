"""ASGI middleware that refuses unknown hosts, uploads beyond a quota, and requests for Streamlit's metrics.

It deletes uploads after ten minutes. It also reads which sites may embed the page, for the Content-Security-Policy.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import Counter

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.environment import ATTNVIZ_FRAME_ANCESTORS

_METRICS = "/_stcore/metrics"
_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/([^/]+)$")
"""Path of an upload, with its session and its file."""
LIFETIME = 600.0
"""Seconds after which an upload is deleted.

The page reads an upload at its next rerun. Streamlit 1.67 would keep it as long as the session.
"""
SESSION_QUOTA, TOTAL_QUOTA = 128 << 20, 1 << 29
"""Bytes of uploads that one session, and all together, may have in memory."""
_OVERHEAD = 16 << 10
"""Bytes that each upload counts besides its own; this limits the number of small ones."""


def frame_ancestors() -> str:
    """Return the value of `frame-ancestors` in the Content-Security-Policy."""
    return os.environ.get(ATTNVIZ_FRAME_ANCESTORS, "").strip() or "'self'"


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


class RequestFilter:
    """ASGI middleware that refuses requests before they reach the app.

    It counts the bytes of uploads that are being received or in memory. A request that the app refuses, for a wrong
    session, token or method, counts nothing: the app then reads nothing of its body.
    """

    def __init__(self, app: ASGIApp, session_quota: int = SESSION_QUOTA, total_quota: int = TOTAL_QUOTA) -> None:
        self._app, self._session_quota, self._total_quota = app, session_quota, total_quota
        self._sizes: Counter[str] = Counter()
        """Bytes by session."""
        self._uploads: dict[tuple[str, str], tuple[int, Scope]] = {}
        """Bytes and request of each upload in memory, by session and file."""
        self._deletions: set[asyncio.Task[None]] = set()
        """The running deletions: asyncio itself holds tasks only weakly."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the app, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if not is_host_allowed(Headers(scope=scope).get("host")):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008, "reason": ""})
                return
            answer = PlainTextResponse(_FOREIGN_HOST, 403)
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        elif scope["path"].endswith(_METRICS):
            answer = PlainTextResponse("Not Found", 404)
        elif scope["method"] not in ("PUT", "DELETE") or not (upload := _UPLOAD.search(scope["path"])):
            await self._app(scope, receive, send)
            return
        elif scope["method"] == "DELETE":
            if _is_success(await _status(self._app, scope, receive, send)):
                self._release((upload[1], upload[2]))
            return
        elif (length := _length(scope)) is None:
            answer = PlainTextResponse("An upload must say its length.", 411)
        else:
            await self._receive((upload[1], upload[2]), length, scope, receive, send)
            return
        await answer(scope, receive, send)

    async def _receive(self, upload: tuple[str, str], length: int, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app receive an upload of `length` bytes, and count those that arrive.

        Where there is no room for the rest, the app answers 429. It asks for the first bytes only after it has checked
        the session and the token.
        """
        session, size, request = upload[0], 0, {**scope}  # a copy, since the app changes the scope

        async def counted() -> Message:
            nonlocal size
            if not await self._has_room(session, length - size + _OVERHEAD):
                raise HTTPException(429, "Too much was uploaded. Try again in ten minutes.")
            message = await receive()
            arrived = len(message.get("body", b""))
            size += arrived
            self._sizes[session] += arrived
            return message

        status = 0
        try:
            status = await _status(self._app, scope, counted, send)
        finally:
            if _is_success(status):
                self._release(upload)  # the app replaces a file of the same name
                self._sizes[session] += _OVERHEAD
                self._uploads[upload] = size + _OVERHEAD, request
                asyncio.get_running_loop().call_later(LIFETIME, self._delete_later, request)
            else:
                self._give_back(session, size)

    async def _has_room(self, session: str, size: int) -> bool:
        """Return whether a session may have `size` more bytes.

        Where all have too many, delete the uploads of ended sessions first: Streamlit 1.67 keeps them for two minutes.
        """
        if self._sizes[session] + size > self._session_quota:
            return False
        if self._sizes.total() + size > self._total_quota:
            requests = {owner: request for (owner, _), (_, request) in self._uploads.items()}
            ended = {owner for owner, request in requests.items() if await self._has_ended(request)}
            for (owner, _), (_, request) in list(self._uploads.items()):
                if owner in ended:
                    await self._delete(request)
        return self._sizes.total() + size <= self._total_quota

    async def _has_ended(self, request: Scope) -> bool:
        """Return whether the session of an earlier upload has ended.

        Streamlit 1.67 answers 400 to an upload of such a session, and 413 to one of a live session that is too large.
        """
        probe = {**request}
        MutableHeaders(scope=probe)["content-length"] = "9" * 15
        return await _status(self._app, probe, _no_body) == 400

    async def _delete(self, request: Scope) -> None:
        """Delete an upload as a browser does, by a request with the headers of the upload."""
        await _status(self, {**request, "method": "DELETE"}, _no_body)

    def _delete_later(self, request: Scope) -> None:
        task = asyncio.ensure_future(self._delete(request))
        self._deletions.add(task)
        task.add_done_callback(self._deletions.discard)

    def _release(self, upload: tuple[str, str]) -> None:
        if upload in self._uploads:
            self._give_back(upload[0], self._uploads.pop(upload)[0])

    def _give_back(self, session: str, size: int) -> None:
        self._sizes[session] -= size
        if not self._sizes[session]:
            del self._sizes[session]


_FOREIGN_HOST = (
    "This app does not answer under this host name. Whoever runs it can allow the name: attnviz app --host NAME, or "
    "server.allowedHosts in .streamlit/config.toml."
)


def _length(scope: Scope) -> int | None:
    """Return the length that an upload states, or None."""
    length = Headers(scope=scope).get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() and len(length) <= 15 else None


def _is_success(status: int) -> bool:
    return 200 <= status < 300


async def _ignore(_: Message) -> None:
    """Ignore a response."""


async def _status(app: ASGIApp, scope: Scope, receive: Receive, send: Send = _ignore) -> int:
    """Let the app answer, and return the status of its answer; 0 without one."""
    status = 0

    async def noted(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)
        await send(message)

    await app(scope, receive, noted)
    return status


async def _no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


GUARD = Middleware(RequestFilter)
