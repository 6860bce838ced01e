"""Thread-safe LRU cache, bounded in bytes, a decorator that uses it, and the approximate size of Python values."""

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

import numpy as np

Value = TypeVar("Value")


class _Entry(NamedTuple, Generic[Value]):
    value: Value
    size: int


class LRUCache(Generic[Value]):
    """LRU cache: values by key, at most a given number of bytes of them.

    Threads that ask for the same key at the same time get the same object: one thread makes it while the others wait.
    Threads that ask for other keys do not wait. An evicted value that is still referenced elsewhere is found again
    instead of made anew, if `weakref` supports its type.
    """

    def __init__(self, most: int, size: Callable[[Value], int]) -> None:
        """Cache at most `most` bytes, measured by `size`; the most recently used value stays even if it is larger."""
        self._most, self._size = most, size
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry[Value]] = OrderedDict()
        self._alive: weakref.WeakValueDictionary[Hashable, Any] = weakref.WeakValueDictionary()
        self._making: dict[Hashable, threading.Event] = {}
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """Size of the cached values, in bytes."""
        return self._bytes

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the cached value of `key`, or call `make` and cache the result; exceptions are not cached."""
        while True:
            with self._lock:
                if (entry := self._lookup(key)) is not None:
                    return entry.value
                pending = self._making.get(key)
                if pending is None:
                    done = self._making[key] = threading.Event()
                    break
            pending.wait()  # then look again: the other thread may have failed
        try:
            return self.add(key, make())
        finally:
            with self._lock:
                del self._making[key]
            done.set()

    def find(self, key: Hashable) -> Value | None:
        """Return the cached value of `key`, or None where there is none; do not wait for a thread that makes it."""
        with self._lock:
            entry = self._lookup(key)
            return None if entry is None else entry.value

    def add(self, key: Hashable, value: Value) -> Value:
        """Cache the value of `key` and return it; where there is one already, return that one."""
        size = self._size(value)
        with self._lock:
            if (entry := self._lookup(key)) is not None:
                return entry.value
            self._store(key, _Entry(value, size))
            with contextlib.suppress(TypeError):  # `weakref` does not support every type
                self._alive[key] = value
            return value

    def _lookup(self, key: Hashable) -> _Entry[Value] | None:
        """Return the value of `key`, cached or still referenced elsewhere, and mark it as most recently used.

        Return None where there is none.
        """
        if key in self._entries:
            self._entries.move_to_end(key)
            return self._entries[key]
        value: Value | None = self._alive.get(key)
        if value is None:
            return None
        entry = _Entry(value, self._size(value))
        self._store(key, entry)
        return entry

    def _store(self, key: Hashable, entry: _Entry[Value]) -> None:
        """Add an entry as the most recently used, and evict the least recently used ones beyond the limit."""
        self._entries[key] = entry
        self._bytes += entry.size
        while self._bytes > self._most and len(self._entries) > 1:
            self._bytes -= self._entries.popitem(last=False)[1].size


def cached_in(cache: LRUCache[Any]) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Return a decorator that caches a function's results in `cache`.

    The key is the arguments whose names do not begin with an underscore; they must be hashable. The decorated function
    takes positional arguments only.
    """

    def decorate(function: Callable[..., Value]) -> Callable[..., Value]:
        names = inspect.signature(function).parameters
        places = [place for place, name in enumerate(names) if not name.startswith("_")]
        name = f"{function.__module__}.{function.__qualname__}"

        @functools.wraps(function)
        def cached(*args: Any) -> Value:
            value: Value = cache.get((name, *(args[place] for place in places)), lambda: function(*args))
            return value

        return cached

    return decorate


def size_of(value: object) -> int:
    """Return the approximate size of a value with everything it contains, in bytes; what occurs twice counts once.

    An array counts as the whole array that it is a view of, for it keeps that in memory.
    """
    counted: dict[int, object] = {}  # keeps temporary objects alive: another would get the same id
    remaining, size = [value], 0
    while remaining:
        one = remaining.pop()
        while isinstance(one, np.ndarray) and isinstance(one.base, np.ndarray):
            one = one.base
        if id(one) in counted:
            continue
        counted[id(one)] = one
        size += sys.getsizeof(one)
        if isinstance(one, np.ndarray) and not one.flags.owndata:  # a torch tensor's or a file's memory
            size += one.nbytes
        elif dataclasses.is_dataclass(one) and not isinstance(one, type):
            remaining.extend(getattr(one, field.name) for field in dataclasses.fields(one))
        elif isinstance(one, Mapping):
            remaining.extend((*one.keys(), *one.values()))
        elif isinstance(one, (tuple, list)):
            remaining.extend(one)
    return size
