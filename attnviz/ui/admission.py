"""How many visitors have the page at the same time, where a host has set a number: the others wait in a queue and see
their place in it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attnviz.languages import gettext, ngettext

VISITORS_VARIABLE = "ATTNVIZ_VISITORS"
"""The environment variable with the number; none where it is not there."""
IDLE = 15 * 60.0
"""Seconds without a run of the page after which a visitor's seat goes to whoever waits."""
_LOOK = 2.0
"""Seconds between two looks of one who waits."""


class Seats:
    """Who has a seat, and who waits for one, first come first served. Threads may share it."""

    def __init__(self, most: int, here: Callable[[str], bool], clock: Callable[[], float] = time.monotonic) -> None:
        """Take the number of seats, at least 1, and what says whether a visitor is still `here`; `clock` in seconds."""
        self.most, self._here, self._clock = most, here, clock
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
            self._seated = {name: heard for name, heard in self._seated.items() if self._here(name)}
            self._queue = {name: None for name in self._queue if self._here(name)}
            for name in list(self._queue):
                if not self._is_free(now):
                    break
                del self._queue[name]
                self._seated[name] = now
            return 0 if visitor in self._seated else list(self._queue).index(visitor) + 1

    def _is_free(self, now: float) -> bool:
        """Return whether a seat is free, which the longest idle visitor's is after a while."""
        if len(self._seated) >= self.most:
            idle, heard = min(self._seated.items(), key=lambda item: item[1])
            if now - heard < IDLE:
                return False
            del self._seated[idle]
        return True


def _is_here(session: str) -> bool:
    return runtime.get_instance().is_active_session(session)


@st.cache_resource(show_spinner=False)
def _seats(most: int) -> Seats:
    return Seats(most, _is_here)


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
    context = get_script_run_ctx()
    return _seats(most).place(context.session_id) if context and runtime.exists() else 0


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
