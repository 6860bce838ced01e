"""Ask visitors to sign in, and limit how many use the app at the same time: the others wait in a queue."""

from __future__ import annotations

import functools
import os
import threading
import time
import uuid
from collections.abc import Callable

import streamlit as st

from attnviz.environment import ATTNVIZ_VISITORS
from attnviz.languages import gettext, ngettext

IDLE_SECONDS = 15 * 60.0
"""Seconds without a rerun after which a visitor may be replaced by the next in the queue."""
_POLLING_SECONDS = 2.0
"""Polling interval of a waiting visitor, in seconds."""


def is_configured() -> bool:
    """Return whether the secrets have a section `auth` with a provider."""
    return st.secrets.load_if_toml_exists() and "auth" in st.secrets


def signed_in() -> bool:
    """Return whether this visitor may see the page; if not, draw the sign-in button."""
    if not is_configured() or st.user.is_logged_in:
        return True
    with st.container(key="sign_in"):
        st.subheader(gettext("Please sign in"), anchor=False)
        st.text(gettext("Only people who sign in can use this page. What you type is not stored."))
        st.button(gettext("Sign in"), on_click=st.login, type="primary", key="sign_in_button")
    return False


def sign_out_link() -> None:
    """Draw the sign-out button for visitors who have signed in."""
    if is_configured() and st.user.is_logged_in:
        st.button(gettext("Sign out"), on_click=st.logout, type="tertiary", key="sign_out")


class VisitorLimit:
    """Admits a limited number of active visitors; the others wait in a first-in-first-out queue. Thread-safe."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Admit `limit` visitors at a time, at least 1; `clock` returns seconds."""
        self._count, self._clock = limit, clock
        self._guard = threading.Lock()
        self._active: dict[str, float] = {}
        """Time of the last rerun of each admitted visitor, in seconds."""
        self._queue: dict[str, None] = {}

    def place(self, visitor: str) -> int:
        """Return 0 for a visitor who is admitted, before or now, otherwise the position in the queue, from 1."""
        with self._guard:
            now = self._clock()
            if visitor in self._active:
                self._active[visitor] = now
            else:
                self._queue.setdefault(visitor)
            for name in list(self._queue):
                if not self._has_room(now):
                    break
                del self._queue[name]
                self._active[name] = now
            return 0 if visitor in self._active else list(self._queue).index(visitor) + 1

    def leave(self, visitor: str) -> None:
        """Remove a visitor who has left."""
        with self._guard:
            self._active.pop(visitor, None)
            self._queue.pop(visitor, None)

    def _has_room(self, now: float) -> bool:
        """Return whether there is room for another; a visitor idle for `IDLE_SECONDS` seconds is removed to make it."""
        if len(self._active) >= self._count:
            visitor, last_seen = min(self._active.items(), key=lambda item: item[1])
            if now - last_seen < IDLE_SECONDS:
                return False
            del self._active[visitor]
        return True


@functools.cache
def _shared_limit(limit: int) -> VisitorLimit:
    """Return the limit that all visitors share."""
    return VisitorLimit(limit)


def _leave(limit_and_visitor: tuple[int, str]) -> None:
    limit, visitor = limit_and_visitor
    _shared_limit(limit).leave(visitor)


@st.cache_resource(scope="session", on_release=_leave, show_spinner=False)
def _limit_and_visitor(limit: int) -> tuple[int, str]:
    """Return the limit and a random id of this visitor, the same until the session ends."""
    return limit, uuid.uuid4().hex


def visitor_limit() -> int | None:
    """Return the limit that the host has set, or None without one; raise ValueError for an invalid number."""
    text = os.environ.get(ATTNVIZ_VISITORS, "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{ATTNVIZ_VISITORS} must be a whole number from 1, not {text}")
    return int(text)


def admitted() -> bool:
    """Return whether this visitor is admitted; otherwise show the position in the queue.

    A waiting visitor's page polls, and reruns as soon as it is admitted.
    """
    limit = visitor_limit()
    if limit is None or not _queue_position(limit):
        return True
    st.fragment(_queue_page, run_every=_POLLING_SECONDS)(limit)
    return False


def _queue_position(limit: int) -> int:
    """Return `VisitorLimit.place` of this visitor."""
    return _shared_limit(limit).place(_limit_and_visitor(limit)[1])


def _queue_page(limit: int) -> None:
    """Draw the position in the queue, or rerun the page if this visitor is admitted now."""
    place = _queue_position(limit)
    if not place:
        st.rerun()
    with st.container(key="queue"):
        st.subheader(
            ngettext(
                "The page is full; it admits one visitor at a time",
                "The page is full; it admits {count} visitors at a time",
                limit,
            ),
            anchor=False,
        )
        if place == 1:
            st.text(gettext("You are next. The page opens by itself; keep this window open."))
        else:
            st.text(
                gettext(
                    "You are number {place} in the queue. The page opens by itself; keep this window open.", place=place
                )
            )
