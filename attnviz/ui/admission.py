"""How many visitors have the page at the same time, where a host has set a number: the others wait in a queue and see
their place in it."""

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
"""The environment variable with the number; none where it is not there."""
IDLE = 15 * 60.0
"""Seconds without a run of the page after which a visitor's seat goes to whoever waits."""
_LOOK = 2.0
"""Seconds between two looks of one who waits."""


class Seats:
    """Who has a seat, and who waits for one, first come first served. Threads may share it."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the number of seats, at least 1; `clock` in seconds."""
        self.most, self._clock = most, clock
        self._guard = threading.Lock()
        self._seated: dict[str, float] = {}
        """When each who has a seat was last heard of."""
        self._queue: dict[str, None] = {}

    def place(self, visitor: str) -> int:
        """Return 0 for a visitor who has a seat, or gets one now, and for others the place in the queue, from 1."""
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
        """Free the seat of a visitor who has gone, or the place in the queue."""
        with self._guard:
            self._seated.pop(visitor, None)
            self._queue.pop(visitor, None)

    def _is_free(self, now: float) -> bool:
        """Return whether a seat is free, which the longest idle visitor's is after a while."""
        if len(self._seated) >= self.most:
            idle, heard = min(self._seated.items(), key=lambda item: item[1])
            if now - heard < IDLE:
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
    """Return the number of seats, and what tells this visitor from others until the connection ends."""
    return most, uuid.uuid4().hex


def most_visitors() -> int | None:
    """Return the number that the host has set, or None where any number may come; raise ValueError for what is none."""
    text = os.environ.get(VISITORS_VARIABLE, "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{VISITORS_VARIABLE} must be a whole number from 1, not {text}")
    return int(text)


def admitted() -> bool:
    """Return whether this visitor has a seat; where not, show the place in the queue, and run the page anew when there
    is one."""
    most = most_visitors()
    if most is None or not _place(most):
        return True
    st.fragment(_wait, run_every=_LOOK)(most)
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
            st.text(gettext("You are the next. The page opens by itself; keep this window."))
        else:
            st.text(gettext("You are number {place}. The page opens by itself; keep this window.", place=place))
