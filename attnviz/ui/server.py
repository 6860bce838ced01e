"""What the server does besides running the page: it hands out the programs that draw in the browser, and gets ready as
it starts.

Nothing heavy is imported above the functions: the server is to answer before torch and what draws the page are there.
"""

from __future__ import annotations

import asyncio
import functools
import gzip
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz import AttnvizError
from attnviz.browser_programs import KATEX, PLOTLY, BrowserProgram
from attnviz.ui.collector import COLLECTOR


def _route(program: BrowserProgram) -> Route:
    """Return where a program is. Before its name may stand `server.baseUrlPath`, or the folders of a proxy that keeps
    them."""
    return Route(f"/{{folders:path}}{program.file_name}", functools.partial(_program, program))


def _program(program: BrowserProgram, request: Request) -> Response:
    """Return a program. A browser may keep it for ever: another one has another name."""
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(program.text, media_type="text/javascript", headers=headers)
    return Response(_packed(program), media_type="text/javascript", headers={**headers, "Content-Encoding": "gzip"})


@functools.cache
def _packed(program: BrowserProgram) -> bytes:
    return gzip.compress(program.text.encode("utf-8"), mtime=0)


class _Announcement:
    """Tells the browser of Plotly's program with the page itself: Streamlit's own takes a second before it asks for
    anything."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def announce(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                if headers.get("content-type", "").startswith("text/html"):
                    headers.append("Link", f"<{PLOTLY.file_name}>; rel=preload; as=script")
            await send(message)

        await self._app(scope, receive, announce if scope["type"] == "http" else send)


ROUTES = [_route(PLOTLY), _route(KATEX)]
"""Beside Streamlit's own."""

MIDDLEWARE = [Middleware(_Announcement)]


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Get ready in the background, once the server answers."""
    thread = threading.Thread(target=get_ready, name="getting ready", daemon=True)
    asyncio.get_running_loop().call_later(0.3, thread.start)
    yield


def get_ready() -> None:
    """Import what draws the page, and make what it opens with: the first visitor would wait for it.

    Where there is no model, or a damaged one, nothing is done: the page says so to whoever opens it.
    """
    usual = sys.getswitchinterval()
    # The first visitor's browser fetches a hundred files meanwhile, and each would wait its turn as long as that.
    sys.setswitchinterval(usual / 10)
    try:
        from attnviz.ui.pages.translate import translate_opening

        with suppress(AttnvizError):
            translate_opening()
        COLLECTOR.start()
    finally:
        sys.setswitchinterval(usual)
