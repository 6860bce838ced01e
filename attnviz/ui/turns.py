"""Let few threads draw pages at the same time. Slow work, such as a translation, releases its thread's turn.

Streamlit runs each page in a thread. If forty threads compete for Python's global interpreter lock, all finish late,
and the server, which needs the lock often and briefly, waits for them each time. If they take turns, most finish early,
and the server stays responsive.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

MOST_THREADS = 2
"""Number of threads that draw at the same time."""


class Turns:
    """A semaphore that each thread takes at most once, so that a few threads work at the same time."""

    def __init__(self, threads: int = MOST_THREADS) -> None:
        self._free = threading.Semaphore(threads)
        self._thread = threading.local()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for a turn and hold it within; a thread that already has one continues."""
        if getattr(self._thread, "has_turn", False):
            yield
            return
        with self._free:
            self._thread.has_turn = True
            try:
                yield
            finally:
                self._thread.has_turn = False

    @contextmanager
    def released(self) -> Iterator[None]:
        """Release the turn within, while the thread waits for something, and wait for a turn again at the end."""
        if not getattr(self._thread, "has_turn", False):
            yield
            return
        self._thread.has_turn = False
        self._free.release()
        try:
            yield
        finally:
            self._free.acquire()
            self._thread.has_turn = True


TURNS = Turns()
"""The turns of all visitors."""


def in_turn(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Make `function`, a page or a fragment, wait for its turn."""

    @functools.wraps(function)
    def waiting(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with TURNS.held():
            return function(*args, **kwargs)

    return waiting
