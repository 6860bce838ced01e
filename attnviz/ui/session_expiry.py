"""ASGI middleware that has Streamlit drop the sessions of visitors who are gone, also where nobody comes after them."""

from __future__ import annotations

import asyncio

import streamlit as st
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_MARGIN = 1.0
"""Seconds after the expiry of a session at which it is dropped."""


class SessionExpiry:
    """Middleware that visits the app, and leaves at once, when the session of the last visitor has expired.

    Streamlit 1.67 stores the session of a visitor who has left for `server.disconnectedSessionTTL` seconds. It drops
    expired sessions only when it stores another. The session of this visit, which has run nothing, remains.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._timer: asyncio.TimerHandle | None = None
        self._visits: set[asyncio.Task[None]] = set()
        """The running visits: asyncio itself holds tasks only weakly."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the app; when a visitor leaves, set the timer, instead of that of an earlier one."""
        visit = {**scope}  # a copy, since the app changes the scope
        try:
            await self._app(scope, receive, send)
        finally:
            if visit["type"] == "websocket":
                if self._timer is not None:
                    self._timer.cancel()
                seconds = st.get_option("server.disconnectedSessionTTL") + _MARGIN
                self._timer = asyncio.get_running_loop().call_later(seconds, self._visit, visit)

    def _visit(self, scope: Scope) -> None:
        """Connect as that visitor did, but as nobody: without cookies and without the name of the session."""
        scope["headers"] = [(name, value) for name, value in scope["headers"] if name == b"host"]
        messages = iter(({"type": "websocket.connect"}, {"type": "websocket.disconnect", "code": 1000}))

        async def receive() -> Message:
            return next(messages)

        async def send(_: Message) -> None:
            """Ignore an answer."""

        task = asyncio.ensure_future(self._app(scope, receive, send))
        self._visits.add(task)
        task.add_done_callback(self._visits.discard)
