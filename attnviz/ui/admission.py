"""Ask visitors to sign in, and limit how many use the app at the same time: the others wait in a queue."""

from __future__ import annotations

import functools
import os
import threading
import time
import uuid
from collections.abc import Callable

import streamlit as st

from attnviz.languages import gettext, ngettext

VISITORS_VARIABLE = "ATTNVIZ_VISITORS"
"""Environment variable with the largest number of visitors; without it there is no limit."""
IDLE_SECONDS = 15 * 60.0
"""Seconds without a rerun after which a visitor's seat is free for the next in the queue."""
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
        st.subheader(gettext("This page asks who you are"), anchor=False)
        st.text(gettext("Only people who sign in can use this page. What you type is not stored."))
        st.button(gettext("Sign in"), on_click=st.login, type="primary", key="sign_in_button")
    return False


def sign_out_link() -> None:
    """Draw the sign-out button for visitors who have signed in."""
    if is_configured() and st.user.is_logged_in:
        st.button(gettext("Sign out"), on_click=st.logout, type="tertiary", key="sign_out")


class Seats:
    """Seats of active visitors and a first-in-first-out queue; thread-safe."""

    def __init__(self, seats: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Create so many seats, at least 1; `clock` returns seconds."""
        self._count, self._clock = seats, clock
        self._guard = threading.Lock()
        self._seated: dict[str, float] = {}
        """Time of the last rerun of each visitor with a seat, in seconds."""
        self._queue: dict[str, None] = {}

    def place(self, visitor: str) -> int:
        """Return 0 for a visitor who has a seat or gets one now, otherwise the position in the queue, from 1."""
        with self._guard:
            now = self._clock()
            if visitor in self._seated:
                self._seated[visitor] = now
            else:
                self._queue.setdefault(visitor)
            for name in list(self._queue):
                if not self._is_free(now):
                    break
                del self._queue[name]
                self._seated[name] = now
            return 0 if visitor in self._seated else list(self._queue).index(visitor) + 1

    def leave(self, visitor: str) -> None:
        """Remove a visitor who has left from the seats and the queue."""
        with self._guard:
            self._seated.pop(visitor, None)
            self._queue.pop(visitor, None)

    def _is_free(self, now: float) -> bool:
        """Return whether a seat is free; evict the visitor idle longest if that was at least `IDLE_SECONDS` seconds."""
        if len(self._seated) >= self._count:
            visitor, last_seen = min(self._seated.items(), key=lambda item: item[1])
            if now - last_seen < IDLE_SECONDS:
                return False
            del self._seated[visitor]
        return True


@functools.cache
def _shared_seats(seats: int) -> Seats:
    """Return the seats of all visitors."""
    return Seats(seats)


def _leave(seat: tuple[int, str]) -> None:
    seats, visitor = seat
    _shared_seats(seats).leave(visitor)


@st.cache_resource(scope="session", on_release=_leave, show_spinner=False)
def _seat(seats: int) -> tuple[int, str]:
    """Return the number of seats and a random id of this visitor, the same until the session ends."""
    return seats, uuid.uuid4().hex


def visitor_limit() -> int | None:
    """Return the limit that the host has set, or None without one; raise ValueError for an invalid number."""
    text = os.environ.get(VISITORS_VARIABLE, "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{VISITORS_VARIABLE} must be a whole number from 1, not {text}")
    return int(text)


def admitted() -> bool:
    """Return whether this visitor has a seat; otherwise show the position in the queue.

    A waiting visitor's page polls, and reruns as soon as a seat is free.
    """
    seats = visitor_limit()
    if seats is None or not _queue_position(seats):
        return True
    st.fragment(_queue_page, run_every=_POLLING_SECONDS)(seats)
    return False


def _queue_position(seats: int) -> int:
    """Return `Seats.place` of this visitor."""
    return _shared_seats(seats).place(_seat(seats)[1])


def _queue_page(seats: int) -> None:
    """Draw the position in the queue, or rerun the page if this visitor has a seat now."""
    place = _queue_position(seats)
    if not place:
        st.rerun()
    with st.container(key="queue"):
        st.subheader(
            ngettext(
                "The page is full; it admits one visitor at a time",
                "The page is full; it admits {count} visitors at a time",
                seats,
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
