"""Let few threads draw pages at the same time. Slow work, such as a translation, releases its thread's turn.

Streamlit runs each page in a thread. If forty threads compete for Python's global interpreter lock, all finish late,
and the server, which needs the lock often and briefly, waits for them each time. If they take turns, most finish early,
and the server stays responsive.
"""

from __future__ import annotations

import functools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from attnviz.reading import UPLOADED, reading_for

Arguments = ParamSpec("Arguments")
_Result = TypeVar("_Result")

MOST_THREADS = 2
"""Number of threads that draw at the same time."""


_LONGEST_READING = 0.05
"""Seconds for which a thread reads a file before it lets a waiting one draw."""


class Turns:
    """A semaphore that each thread takes at most once, in the order of arrival, so that few work at the same time."""

    def __init__(self, threads: int = MOST_THREADS) -> None:
        self._lock = threading.Lock()
        self._free = threads
        self._waiting = deque[threading.Event]()
        self._thread = threading.local()

    def _take(self) -> None:
        """Wait for a turn."""
        with self._lock:
            if self._free:
                self._free -= 1
                granted = None
            else:
                granted = threading.Event()
                self._waiting.append(granted)
        if granted:
            granted.wait()
        self._thread.since = time.monotonic()

    def _give(self) -> None:
        """Give the turn to the thread that has waited longest, so that nobody who comes later takes it."""
        self._thread.since = None
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1

    @property
    def _since(self) -> float | None:
        """When this thread got its turn; None while it has none."""
        return getattr(self._thread, "since", None)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for a turn and hold it within; a thread that already has one continues."""
        if self._since is not None:
            yield
            return
        self._take()
        try:
            yield
        finally:
            self._give()

    @contextmanager
    def released(self) -> Iterator[None]:
        """Release the turn within, while the thread waits for something, and wait for a turn again at the end."""
        if self._since is None:
            yield
            return
        self._give()
        try:
            yield
        finally:
            self._take()

    def pass_on(self) -> None:
        """Let a waiting thread work first, where this one has read a file for some time."""
        if self._waiting and self._since is not None and time.monotonic() - self._since > _LONGEST_READING:
            with self.released():
                pass


TURNS = Turns()
"""The turns of all visitors."""


def in_turn(function: Callable[Arguments, _Result]) -> Callable[Arguments, _Result]:
    """Make `function`, a page or a fragment, wait for its turn, and pass it on while it reads uploaded files."""

    @functools.wraps(function)
    def waiting(*args: Arguments.args, **kwargs: Arguments.kwargs) -> _Result:
        with TURNS.held(), reading_for(TURNS.pass_on, UPLOADED):
            return function(*args, **kwargs)

    return waiting
