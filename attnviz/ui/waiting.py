"""Share the server among visitors: turns to draw, places in the app, turns of translations, and quotas of uploads."""

from __future__ import annotations

import asyncio
import math
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import partialmethod
from typing import Any

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.delta_generator import DeltaGenerator

from attnviz.environment import ATTNVIZ_VISITORS
from attnviz.languages import gettext, ngettext
from attnviz.reading import UPLOADED, reading_for
from attnviz.ui.embedding import set_within

IDLE_SECONDS = 15 * 60.0
"""Seconds without a rerun after which a visitor may be replaced by the next in the queue."""
_LONGEST_READING = 0.05
"""Seconds for which a thread reads a file before it lets a waiting one draw."""
LIFETIME = 600.0
"""Seconds after which an upload ends or is deleted. Streamlit 1.67 keeps it until the session ends."""
_OVERHEAD = 16 << 10
"""Bytes that each upload counts besides its own; this limits the number of small ones."""


class FairSemaphore:
    """Semaphore that admits holders, threads or visitors, in the order of arrival. Thread-safe."""

    def __init__(self, limit: float, idle: float = math.inf, clock: Callable[[], float] = time.monotonic) -> None:
        """Admit `limit` holders at a time, at least 1; one that has not asked for `idle` seconds yields to the next."""
        self.limit, self._idle, self._clock = limit, idle, clock
        self._lock = threading.Lock()
        self._holders: dict[Hashable, float] = {}
        """Time at which each holder was admitted or last asked, in seconds."""
        self._queue: dict[Hashable, threading.Event] = {}
        """For each that waits, what is set when it is admitted."""

    def place(self, holder: Hashable) -> int:
        """Return 0 for a holder that is admitted, before or now, otherwise the position in the queue, from 1."""
        with self._lock:
            if holder in self._holders:
                self._holders[holder] = self._clock()
            else:
                self._queue.setdefault(holder, threading.Event())
            self._admit()
            return [*self._queue].index(holder) + 1 if holder in self._queue else 0

    def leave(self, holder: Hashable) -> None:
        """Remove a holder, or one that waits."""
        with self._lock:
            self._holders.pop(holder, None)
            self._queue.pop(holder, None)
            self._admit()

    def _admit(self) -> None:
        now = self._clock()
        while self._queue:
            if len(self._holders) >= self.limit:
                last = min(self._holders, key=self._holders.__getitem__)
                if now - self._holders[last] < self._idle:
                    return
                del self._holders[last]
            first = next(iter(self._queue))
            self._holders[first] = now
            self._queue.pop(first).set()

    @contextmanager
    def _within(self, *, has_turn: bool) -> Iterator[None]:
        thread = threading.get_ident()
        had_turn = thread in self._holders
        self._set(thread, has_turn)
        try:
            yield
        finally:
            self._set(thread, had_turn)

    def _set(self, thread: int, has_turn: bool) -> None:
        if not has_turn:
            self.leave(thread)
        elif self.place(thread) and (admitted := self._queue.get(thread)):
            admitted.wait()

    held = partialmethod(_within, has_turn=True)
    """Wait for a turn of this thread and hold it within; a thread that already has one continues."""
    released = partialmethod(_within, has_turn=False)
    """Release the turn of this thread within, while it waits for something, and wait for a turn at the end."""

    def pass_on(self) -> None:
        """Let a waiting thread work first, where this one has read a file for some time."""
        since = self._holders.get(threading.get_ident(), math.inf)
        if self._queue and self._clock() - since > _LONGEST_READING:
            with self.released():
                pass


TURNS = FairSemaphore(2)
"""Turns of the threads that draw pages: if many compete for Python's global interpreter lock, all finish late."""


@contextmanager
def in_turn() -> Iterator[None]:
    """Wait for a turn to draw a page or a fragment within, and pass it on while uploaded files are read."""
    with TURNS.held(), reading_for(TURNS.pass_on, UPLOADED):
        yield


def visitor_limit() -> float:
    """Return the limit that the host has set, infinite without one; raise ValueError for an invalid number."""
    text = os.environ.get(ATTNVIZ_VISITORS, "").strip()
    if not re.fullmatch("([1-9][0-9]*)?", text):
        raise ValueError(f"{ATTNVIZ_VISITORS} must be a whole number from 1, not {text}")
    return int(text) if text else math.inf


VISITORS = FairSemaphore(visitor_limit(), IDLE_SECONDS)
"""The places of visitors in the app."""


@st.cache_resource(scope="session", on_release=VISITORS.leave, show_spinner=False)
def _visitor() -> object:
    """Return what stands for this visitor until the session ends."""
    return object()


def admitted() -> bool:
    """Return whether this visitor is admitted; otherwise show the position in the queue until then."""
    if not VISITORS.place(_visitor()):
        return True
    st.fragment(_draw_queue, run_every=2)()
    return False


def _draw_queue() -> None:
    if not (place := VISITORS.place(_visitor())):
        st.rerun()
    title = ngettext(
        "The page is full; it admits one visitor at a time",
        "The page is full; it admits {count} visitors at a time",
        int(VISITORS.limit),
    )
    text = gettext(
        "You are number {place} in the queue. The page opens by itself; keep this window open."
        if place > 1
        else "You are next. The page opens by itself; keep this window open.",
        place=place,
    )
    with st.container(key="queue"):
        st.subheader(title, anchor=False)
        st.text(text)


def show_position(place: DeltaGenerator, first: int, seconds: float) -> None:
    """Show how many sentences are translated before the visitor's, and about how many `seconds` that takes if many.

    Streamlit stops the run here if the visitor has left or requested something else.
    """
    text = gettext("Your sentence is translated next.")
    if first:
        text = ngettext(
            "One other sentence is translated before yours.",
            "{count} other sentences are translated before yours.",
            first,
        )
    if seconds >= 10:
        rounded = 10 * round(seconds / 10)
        text += " " + gettext("Your translation will be ready in about {seconds} seconds.", seconds=rounded)
    place.text(text)


TRANSLATING_FOR: ContextVar[tuple[str | None, DeltaGenerator | None]] = ContextVar("visitor", default=(None, None))
"""Random id of the visitor for whom this thread translates, and where the page shows the position of the sentence."""


def translating_for(visitor: str | None, place: DeltaGenerator | None = None) -> AbstractContextManager[None]:
    """Translate within in the turns of a visitor, if given, and show the position of the sentence in a place."""
    return set_within(TRANSLATING_FOR, (visitor, place))


class UploadQuota:
    """ASGI middleware that limits the bytes of uploads that arrive or are in memory, and the time they stay there."""

    def __init__(self, app: ASGIApp, session_quota: int = 128 << 20, total_quota: int = 1 << 29) -> None:
        """Limit the bytes of one session, and of all together."""
        self._app, self._session_quota, self._total_quota = app, session_quota, total_quota
        self._arriving: Counter[str] = Counter()
        """Bytes of the uploads that arrive, by session; Streamlit refuses one of a wrong session before it arrives."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the app, or refuse an upload."""
        path = re.search("/_stcore/upload_file/([^/]+)/([^/]+)$", scope.get("path", ""))
        if path is None or scope.get("method") != "PUT":
            await self._app(scope, receive, send)
            return
        session, file = path.groups()
        length = Headers(scope=scope).get("content-length", "")
        if not re.fullmatch("[0-9]{1,15}", length):
            await PlainTextResponse("An upload must say its length.", 411)(scope, receive, send)
        elif not self._has_room(session, size := int(length) + _OVERHEAD):
            await PlainTextResponse("Too much was uploaded. Try again in ten minutes.", 429)(scope, receive, send)
        else:
            self._arriving[session] += size
            try:
                await asyncio.wait_for(self._app(scope, receive, send), LIFETIME)
            finally:
                self._arriving -= Counter({session: size})
                runtime: Any = st.runtime.get_instance()
                asyncio.get_running_loop().call_later(LIFETIME, runtime.uploaded_file_mgr.remove_file, session, file)

    def _has_room(self, session: str, size: int) -> bool:
        """Return whether a session may upload `size` more bytes; delete what ended sessions keep if that is in the way.

        Streamlit 1.67 would delete it after two minutes.
        """
        runtime: Any = st.runtime.get_instance()
        uploads, sizes = runtime.uploaded_file_mgr, self._arriving.copy()
        for owner, files in uploads.file_storage.items():
            sizes[owner] += sum(len(file.data) + _OVERHEAD for file in files.values())
        for owner in [*sizes] if sizes.total() + size > self._total_quota else []:
            if not runtime.is_active_session(owner):
                uploads.remove_session_files(owner)
                sizes[owner] = self._arriving[owner]
        return sizes[session] + size <= self._session_quota and sizes.total() + size <= self._total_quota
