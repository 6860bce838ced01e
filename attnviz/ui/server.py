"""Server routes, middleware and start-up: scripts, fonts, payloads, headers, redirects, warm-up, garbage collection.

Nothing slow is imported at module level: the server must answer before torch and the drawing code are loaded.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import gzip
import hashlib
import os
import socket
import sys
import threading
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz import AttnvizError
from attnviz.browser_modules import APP_MODULES
from attnviz.browser_programs import KATEX, PLOTLY, SERIF
from attnviz.environment import ATTNVIZ_FRAME_ANCESTORS
from attnviz.memory import return_memory
from attnviz.ui.pages import PATHS, all_pages
from attnviz.ui.waiting import UploadQuota

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


_PROGRAMS = (PLOTLY, KATEX, APP_MODULES)
"""The scripts that pages load."""

FOR_EVER = "public, max-age=31536000, immutable"
"""Cache-Control header of content whose name changes whenever it changes."""


def _route(name: str, respond: Callable[[Request], Response]) -> Route:
    """Return a route for `name` that calls `respond` in a thread pool.

    `server.baseUrlPath`, or folders that a proxy does not strip, may precede the name.
    """

    async def answer(request: Request) -> Response:
        threads = _LOW_PRIORITY if LATER in request.headers else _NORMAL
        return await asyncio.get_running_loop().run_in_executor(threads, respond, request)

    return Route(f"/{{folders:path}}{name}", answer)


UNKNOWN_REQUEST = 428
"""Status that asks the browser for a request (`components/requests.js`)."""


async def _request(request: Request) -> Response:
    """Keep a request that the browser sends, or refuse it where no page made it; to HEAD, say whether it is known."""
    await asyncio.to_thread(all_pages)
    from attnviz.ui import payloads

    digest, body = request.path_params["digest"], b""
    if request.method == "HEAD":
        return Response(status_code=200 if payloads.is_known(digest) else UNKNOWN_REQUEST)
    async for part in request.stream():
        body += part
        if len(body) > payloads.LONGEST_REQUEST:
            return Response(status_code=413)
    return Response(status_code=204 if payloads.accept(digest, body.decode("latin-1")) else 403)


def _payload(request: Request) -> Response:
    """Return a payload, or the sentence that says why it cannot be made; ask for an unknown request.

    Files are sent as attachments, whatever they contain.
    """
    all_pages()
    from attnviz.ui.payloads import FILE, UnknownPayloadError, UnknownRequestError, payload

    path, no_store = request.path_params, {"Cache-Control": "no-store"}
    try:
        visitor = request.headers.get(VISITOR, "")[:64] or None
        packed, media_type = payload(path["digest"], path["name"], request.query_params, visitor)
    except UnknownRequestError:
        return Response(status_code=UNKNOWN_REQUEST, headers=no_store)
    except UnknownPayloadError:
        return Response(status_code=404)
    except AttnvizError as error:  # 422 is `REFUSED` in `components/requests.js`
        return Response(str(error), 422, no_store, "text/plain")
    answer = _response(packed, request, media_type, no_store["Cache-Control"])
    if media_type == FILE:
        answer.headers["Content-Disposition"] = "attachment"
    return answer


def _static_file(request: Request) -> Response:
    """Return a script or a font by its name, or 404; cached for ever, since its name changes with its content."""
    name = request.url.path.rpartition("/")[2]
    for program in _PROGRAMS:
        if program.file_name == name:
            return _response(_compressed(program.text), request, "text/javascript", FOR_EVER)
    for font in SERIF:
        if font.file_name == name:
            return Response(font.content, media_type="font/woff2", headers={"Cache-Control": FOR_EVER})
    return Response(status_code=404)


@functools.cache
def _streamlit_files() -> dict[str, Path]:
    """Return the scripts and style sheets of Streamlit, whose names change with their contents, too."""
    folder = Path(st.__file__).parent / "static" / "static"
    return {path.name: path for path in (*folder.glob("js/*.js"), *folder.glob("css/*.css"))}


def _streamlit_file(request: Request) -> Response:
    """Return a script or a style sheet of Streamlit, or 404.

    Streamlit 1.67 sends these 2 MB as they are, for which a class that opens the page at once would wait.
    """
    if (path := _streamlit_files().get(request.path_params["name"])) is None:
        return Response(status_code=404)
    media_type = "text/css" if path.suffix == ".css" else "text/javascript"
    return _response(_compressed(path.read_text(encoding="utf-8")), request, media_type, FOR_EVER)


@functools.cache
def _compressed(text: str) -> bytes:
    return gzip.compress(text.encode("utf-8"), mtime=0)


def _response(packed: bytes, request: Request, media_type: str, cache_control: str) -> Response:
    """Return the gzip content, decompressed for clients that do not accept gzip."""
    headers = {"Cache-Control": cache_control, "Vary": "Accept-Encoding"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(gzip.decompress(packed), media_type=media_type, headers=headers)
    return Response(packed, media_type=media_type, headers=headers | {"Content-Encoding": "gzip"})


LATER = "attnviz-later"
"""Request header by which a browser says that the requested content is outside its window."""
VISITOR = "attnviz-visitor"
"""Request header with the random id of the visitor (`requests.Inbox.memory`), for fair turns of translations."""
_NORMAL = ThreadPoolExecutor(2, thread_name_prefix="beside the pages")
"""Few threads, so that runs of the page have priority; Streamlit does not wait for these threads."""
_LOW_PRIORITY = ThreadPoolExecutor(1, thread_name_prefix="when there is time")
"""One thread, for requests with the header `LATER`."""


_PRELOADED = "<{}>; rel=preload; as=script, <{}>; rel=modulepreload"
"""Link header that preloads the scripts that a page needs first."""
POLICY = {
    "default-src": "'self'",
    # The inline script of Streamlit's own page, and component scripts, which Streamlit runs from blob: addresses.
    "script-src": "'self' blob: {inline}",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' blob: data:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "{frames}",
}
"""Content-Security-Policy (https://www.w3.org/TR/CSP3): nothing is loaded or run from other servers."""


@functools.cache
def _policy() -> str:
    """Return the value of the policy's header; scripts in Streamlit's page are allowed by the hash of their text."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    texts = [part.partition("</script>")[0] for part in page.split("<script>")[1:]]
    hashes = (b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") for text in texts)
    inline = " ".join(f"'sha256-{digest}'" for digest in hashes)
    frames = os.environ.get(ATTNVIZ_FRAME_ANCESTORS, "").strip() or "'self'"
    return "; ".join(
        f"{name} {sources.format(inline=inline, frames=frames).strip()}" for name, sources in POLICY.items()
    )


def _is_host_allowed(host: str) -> bool:
    """Return whether `server.allowedHosts` contains the host of a request, without its port, or is empty.

    This stops DNS rebinding, where a foreign page's host name resolves to this server and its requests carry that name.
    Streamlit 1.67 checks the host of WebSocket connections only, not of HTTP requests.
    """
    with suppress(ValueError):  # the host is malformed
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        allowed = st.get_option("server.allowedHosts") or ["*"]
        return any(fnmatchcase(name, pattern.strip().lower().rstrip(".")) for pattern in allowed)
    return False


_FOREIGN_HOST = PlainTextResponse(
    "This app does not answer under this host name. Whoever runs it can allow the name: attnviz app --host NAME, or "
    "server.allowedHosts in .streamlit/config.toml.",
    403,
)


def _address_of_app(scope: Scope) -> str:
    """Return the address of the app relative to that of a request, with its query; empty if it is one of its pages."""
    below = scope["path"].removeprefix("/" + st.get_option("server.baseUrlPath").strip("/")).strip("/")
    query = f"?{text}" if (text := scope["query_string"].decode("latin-1")) else ""
    return f"./{'../' * below.count('/')}{query}" if below not in PATHS else ""


def _own_pages(app: ASGIApp) -> ASGIApp:
    """Return middleware that refuses other host names, adds headers to HTML pages, and knows the addresses of ours.

    The headers are preload links and those of security. Without preload links, Streamlit's own script runs for a second
    before it requests anything. Streamlit 1.67 answers every unknown path with its page, which below a folder finds
    neither its scripts nor the server: a browser that opens such a path is redirected to the app, and a script that is
    missing is not found.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and not _is_host_allowed(Headers(scope=scope).get("host", "")):
            await _FOREIGN_HOST(scope, receive, send)
            return

        async def add_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                if headers.get("content-type", "").startswith("text/html"):
                    if isinstance(scope.get("endpoint"), StaticFiles) and (address := _address_of_app(scope)):
                        is_opened = "text/html" in Headers(scope=scope).get("accept", "")
                        message["status"] = 307 if is_opened else 404
                        headers["Location"] = address
                    del headers["ETag"], headers["Last-Modified"]  # those of Streamlit's page, whatever we preload
                    headers.append("Link", _PRELOADED.format(PLOTLY.file_name, APP_MODULES.file_name))
                    headers["Content-Security-Policy"] = _policy()
                    headers["Referrer-Policy"] = "same-origin"  # the address contains the sentence
                    headers["X-Content-Type-Options"] = "nosniff"
            await send(message)

        await app(scope, receive, add_headers if scope["type"] == "http" else send)

    return answer


def _at_once(app: ASGIApp) -> ASGIApp:
    """Return middleware that lets the system send each part of an answer at once (TCP_NODELAY).

    asyncio sets this for sockets that name TCP as their protocol; that of Streamlit 1.67 names none. Otherwise the body
    of an answer waits until the browser has acknowledged its head, 40 ms on a connection that it uses again.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        transport = getattr(getattr(receive, "__self__", None), "transport", None)  # uvicorn's; ASGI names none
        if transport is not None and (connection := transport.get_extra_info("socket")) is not None:
            with suppress(OSError):  # it is closed, or not of TCP
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await app(scope, receive, send)

    return answer


ROUTES = [
    # The digest takes a moment to compute: not before the server answers.
    *(_route(f"{program.name}-{program.version}-{{digest}}.js", _static_file) for program in _PROGRAMS),
    _route("attnviz-{font}.woff2", _static_file),
    *(_route(f"static/{kind}/{{name}}", _streamlit_file) for kind in ("css", "js")),
    Route("/{folders:path}attnviz-payload/{digest}/{name}", _request, methods=["HEAD", "POST"]),
    _route("attnviz-payload/{digest}/{name}", _payload),
    _route("_stcore/metrics", lambda _: PlainTextResponse("Not Found", 404)),
]
"""Routes beside Streamlit's own."""

MIDDLEWARE = [Middleware(one) for one in (_at_once, _own_pages, UploadQuota, SessionExpiry)]


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Import pandas before the first request, warm up once the server answers, then collect garbage periodically.

    Plotly, Streamlit and pyarrow use pandas as soon as it is in `sys.modules`, although another thread may still be
    importing it (plotly.py issue 2433). So it is imported while there is only one thread.
    """
    import pandas  # noqa: F401

    _allow_many_files()
    thread = threading.Thread(target=warm_up, name="getting ready", daemon=True)
    asyncio.get_running_loop().call_later(0.3, thread.start)
    collection = asyncio.create_task(collect_garbage())
    yield
    collection.cancel()


MOST_FILES = 1 << 16
"""Number of files that the server may have open, where the system allows it."""


def _allow_many_files() -> None:
    """Raise the limit of open files: each visitor takes several, and the usual 1,024 are used up by 250."""
    with suppress(ImportError, OSError, ValueError):  # Windows has no such limit
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


async def collect_garbage(seconds: float = 20) -> None:
    """Return unused memory to the system every so many `seconds`, until cancelled.

    Python collects garbage only when it allocates objects, and glibc keeps most of what is freed.
    """
    while True:
        await asyncio.sleep(seconds)
        await asyncio.to_thread(_tidy)


def _tidy() -> None:
    gc.collect()
    return_memory()


def warm_up() -> None:
    """Import the drawing code and translate the default sentence, so that the first visitor does not wait for it.

    If the model is missing or damaged, nothing is translated: the page reports that when it is opened.
    """
    interval = sys.getswitchinterval()
    # The first visitor's browser fetches a hundred files meanwhile; each would wait one switch interval.
    sys.setswitchinterval(interval / 10)
    try:
        all_pages()  # early, before a request needs them
        from attnviz.ui.pages.translate_page import cache_default_translation

        with suppress(AttnvizError):
            cache_default_translation()
        # All that has been imported by now is permanent: exempt it from garbage collection.
        _tidy()
        gc.freeze()
    finally:
        sys.setswitchinterval(interval)
