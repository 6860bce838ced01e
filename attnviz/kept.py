"""What is made once for all who ask, and kept as long as there is room: a cache bounded in bytes."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

Value = TypeVar("Value")


class _Entry(NamedTuple, Generic[Value]):
    value: Value
    size: int


class Kept(Generic[Value]):
    """Values by their key, at most so many bytes of them; what was asked for longest ago goes first.

    Threads that ask for the same at the same time get the same object, made by one of them while the others wait; those
    that ask for something else do not wait. A value that somebody still holds is never made anew, also where it
    had to go from here.
    """

    def __init__(self, most: int, size: Callable[[Value], int]) -> None:
        """Keep at most `most` bytes, as `size` tells them; the value asked for last is kept also where it is larger.

        Values must be such that `weakref` can refer to them.
        """
        self._most, self._size = most, size
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry[Value]] = OrderedDict()
        self._alive: weakref.WeakValueDictionary[Hashable, Value] = weakref.WeakValueDictionary()
        self._making: dict[Hashable, threading.Event] = {}
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """What is kept, in bytes."""
        return self._bytes

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of `key`, which `make` makes where there is none; what it raises is raised, and not kept."""
        while True:
            with self._lock:
                value = self._alive.get(key)
                if value is not None:
                    self._keep(key, value)
                    return value
                being_made = self._making.get(key)
                if being_made is None:
                    mine = self._making[key] = threading.Event()
                    break
            being_made.wait()  # and see whether it was made: it may have failed, for a reason of its maker's own
        try:
            value = make()
            with self._lock:
                self._alive[key] = value
                self._keep(key, value)
            return value
        finally:
            with self._lock:
                del self._making[key]
            mine.set()

    def _keep(self, key: Hashable, value: Value) -> None:
        """Keep `value` as the one asked for last, and let go what there is no room for."""
        if key not in self._entries:
            self._entries[key] = _Entry(value, self._size(value))
            self._bytes += self._entries[key].size
        self._entries.move_to_end(key)
        while self._bytes > self._most and len(self._entries) > 1:
            self._bytes -= self._entries.popitem(last=False)[1].size
