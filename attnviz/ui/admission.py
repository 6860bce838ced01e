"""Limit how many visitors use the app at the same time, where the host sets a number.

The other visitors wait in a queue and see their position in it.
"""

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
IDLE = 15 * 60.0
"""Seconds without a rerun after which a visitor's seat is free for the next in the queue."""
_POLLING_SECONDS = 2.0
"""Polling interval of a waiting visitor, in seconds."""


class Seats:
    """Seats of active visitors and a first-in-first-out queue; thread-safe."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the number of seats, at least 1; `clock` returns seconds."""
        self.most, self._clock = most, clock
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
        """Return whether a seat is free; evict the visitor idle longest if that was at least `IDLE` seconds."""
        if len(self._seated) >= self.most:
            idle, last_seen = min(self._seated.items(), key=lambda item: item[1])
            if now - last_seen < IDLE:
                return False
            del self._seated[idle]
        return True


@functools.cache
def _seats(most: int) -> Seats:
    return Seats(most)


def _leave(seat: tuple[int, str]) -> None:
    most, visitor = seat
    _seats(most).leave(visitor)


@st.cache_resource(scope="session", on_release=_leave, show_spinner=False)
def _seat(most: int) -> tuple[int, str]:
    """Return the number of seats and a random id of this visitor, the same until the session ends."""
    return most, uuid.uuid4().hex


def most_visitors() -> int | None:
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
    most = most_visitors()
    if most is None or not _place(most):
        return True
    st.fragment(_wait, run_every=_POLLING_SECONDS)(most)
    return False


def _place(most: int) -> int:
    return _seats(most).place(_seat(most)[1])


def _wait(most: int) -> None:
    place = _place(most)
    if not place:
        st.rerun()
    with st.container(key="queue"):
        st.subheader(ngettext("The only seat is taken", "All {count} seats are taken", most), anchor=False)
        if place == 1:
            st.text(gettext("You are next. The page opens by itself; keep this window open."))
        else:
            st.text(
                gettext(
                    "You are number {place} in the queue. The page opens by itself; keep this window open.", place=place
                )
            )
