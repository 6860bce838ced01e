"""What is made once for all who ask, and kept as long as there is room: a cache bounded in bytes."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

Value = TypeVar("Value")


class _Entry(NamedTuple, Generic[Value]):
    value: Value
    size: int


class Kept(Generic[Value]):
    """Values by their key, at most so many bytes of them; what was asked for longest ago goes first.

    Threads that ask for the same at the same time get the same object, made by one of them while the others wait; those
    that ask for something else do not wait. A value that somebody still holds is not made anew where it had to go from
    here, if it is of a kind that `weakref` can refer to.
    """

    def __init__(self, most: int, size: Callable[[Value], int]) -> None:
        """Keep at most `most` bytes, as `size` tells them; the value asked for last is kept also where it is larger."""
        self._most, self._size = most, size
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry[Value]] = OrderedDict()
        self._alive: weakref.WeakValueDictionary[Hashable, Any] = weakref.WeakValueDictionary()
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
                if (found := self._found(key)) is not None:
                    return found.value
                being_made = self._making.get(key)
                if being_made is None:
                    mine = self._making[key] = threading.Event()
                    break
            being_made.wait()  # and see whether it was made: it may have failed, for a reason of its maker's own
        try:
            value = make()
            size = self._size(value)
            with self._lock:
                self._keep(key, _Entry(value, size))
                with contextlib.suppress(TypeError):  # `weakref` cannot refer to every kind
                    self._alive[key] = value
            return value
        finally:
            with self._lock:
                del self._making[key]
            mine.set()

    def _found(self, key: Hashable) -> _Entry[Value] | None:
        """Return what is kept of `key`, or else held by somebody, as the one asked for last; None where there is
        nothing."""
        if key in self._entries:
            self._entries.move_to_end(key)
            return self._entries[key]
        value: Value | None = self._alive.get(key)
        if value is None:
            return None
        entry = _Entry(value, self._size(value))
        self._keep(key, entry)
        return entry

    def _keep(self, key: Hashable, entry: _Entry[Value]) -> None:
        """Keep a new entry as the one asked for last, and let go what there is no room for."""
        self._entries[key] = entry
        self._bytes += entry.size
        while self._bytes > self._most and len(self._entries) > 1:
            self._bytes -= self._entries.popitem(last=False)[1].size


def kept_in(store: Kept[Any]) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Return what has a function's results kept in `store`, by its arguments but for those whose names begin with _.

    It is then called with positional arguments; those of the key must be hashable.
    """

    def decorate(function: Callable[..., Value]) -> Callable[..., Value]:
        names = inspect.signature(function).parameters
        places = [place for place, name in enumerate(names) if not name.startswith("_")]
        name = f"{function.__module__}.{function.__qualname__}"

        @functools.wraps(function)
        def found(*args: Any) -> Value:
            value: Value = store.get((name, *(args[place] for place in places)), lambda: function(*args))
            return value

        return found

    return decorate


def size_of(value: object) -> int:
    """Return roughly how many bytes a value takes with all that it is made of: texts, arrays, and what holds them.

    What is in it twice is counted twice.
    """
    own = sys.getsizeof(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return own + sum(size_of(getattr(value, field.name)) for field in dataclasses.fields(value))
    if isinstance(value, Mapping):
        return own + sum(size_of(key) + size_of(one) for key, one in value.items())
    if isinstance(value, (tuple, list)):
        return own + sum(map(size_of, value))
    return own
