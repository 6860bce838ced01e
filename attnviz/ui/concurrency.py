"""Limit how many visitors the server computes for at the same time; the others wait their turn.

Streamlit runs each page in a thread. Forty threads compete for Python's global interpreter lock: all of them finish
late, and the server, which needs the lock often and briefly, waits for each of them every time. With turns most finish
early, and the server stays responsive.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

AT_ONCE = 2


class Turns:
    """A semaphore that each thread takes at most once, so that a few threads work at the same time."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._free = threading.Semaphore(at_once)
        self._own = threading.local()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for a turn and hold it within; a thread that already has one continues."""
        if getattr(self._own, "has", False):
            yield
            return
        with self._free:
            self._own.has = True
            try:
                yield
            finally:
                self._own.has = False

    @contextmanager
    def left(self) -> Iterator[None]:
        """Give up the turn within, while the thread waits for something, and wait for a turn again at the end."""
        if not getattr(self._own, "has", False):
            yield
            return
        self._own.has = False
        self._free.release()
        try:
            yield
        finally:
            self._free.acquire()
            self._own.has = True


TURNS = Turns()
"""The turns of the server."""


def in_turn(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Make `function`, a page or a fragment, wait for its turn."""

    @functools.wraps(function)
    def waiting(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with TURNS.taken():
            return function(*args, **kwargs)

    return waiting
