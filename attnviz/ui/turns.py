"""How many visitors the server computes for at the same time: the others wait their turn.

Streamlit gives each run of a page a thread. Forty of them take Python's interpreter from one another all the time: all
end late, and whoever needs it often and briefly, as the server itself does, waits for each of them each time. In turn,
most end early, and the server answers.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")

AT_ONCE = 2


class Turns:
    """Lets a few threads work at the same time, first come first served."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._free = threading.Semaphore(at_once)
        self._own = threading.local()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for a turn, and have it within; a thread that has one already goes on."""
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
        """Let others work within, as one who waits for something must, and wait for a turn again at the end."""
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
"""Those of the server."""


def in_turn(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Make `function`, a page or a fragment of it, wait for its turn."""

    @functools.wraps(function)
    def waiting(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        with TURNS.taken():
            return function(*args, **kwargs)

    return waiting
