"""Thread-safe LRU cache, bounded in bytes; decorators that cache, there or for one run; stamps of files."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import math
import sys
import threading
import weakref
from collections.abc import Callable, Hashable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Generic, TypeVar

import cachetools
import numpy as np

Value = TypeVar("Value")


class LRUCache(Generic[Value]):
    """LRU cache: values by key, at most a given number of bytes of them.

    Threads that ask for the same key at the same time get the same object: one thread makes it while the others wait.
    Threads that ask for other keys do not wait. An evicted value that is still referenced elsewhere is found again
    instead of made anew, if `weakref` supports its type.
    """

    def __init__(self, most: int, size: Callable[[Value], int] | None = None) -> None:
        """Cache at most `most` bytes, measured by `size` or, without it, by `size_of`.

        A larger value is cached alone, and counts as `most`.
        """
        measure = size or functools.partial(size_of, most=most)
        self._cached: cachetools.LRUCache[Hashable, Value] = cachetools.LRUCache(
            most, getsizeof=lambda value: min(most, measure(value))
        )
        self._alive: weakref.WeakValueDictionary[Hashable, Any] = weakref.WeakValueDictionary()
        self._shared: weakref.WeakKeyDictionary[Any, Value] = weakref.WeakKeyDictionary()
        """By an equal of a cached value, that value: it lives as long. Such values are compared by identity."""
        self._making = set[Hashable]()
        self._changed = threading.Condition()

    @property
    def bytes(self) -> int:
        """Size of the cached values, in bytes."""
        return int(self._cached.currsize)

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the cached value of `key`, or call `make` and cache the result; exceptions are not cached."""
        with self._changed:
            self._changed.wait_for(lambda: key not in self._making)
            with contextlib.suppress(KeyError):
                return self._lookup(key)
            self._making.add(key)
        try:
            return self.add(key, make())
        finally:
            with self._changed:
                self._making.remove(key)
                self._changed.notify_all()

    def find(self, key: Hashable) -> Value | None:
        """Return the cached value of `key`, or None where there is none; do not wait for a thread that makes it."""
        with self._changed, contextlib.suppress(KeyError):
            return self._lookup(key)
        return None

    def add(self, key: Hashable, value: Value) -> Value:
        """Cache the value of `key` and return it; where there is one already, return that one, which lives as long."""
        with self._changed:
            with contextlib.suppress(KeyError):
                found = self._lookup(key)
                with contextlib.suppress(TypeError):  # `weakref` does not support every type
                    if found is not value:
                        self._shared[value] = found
                return found
            self._cached[key] = value
            with contextlib.suppress(TypeError):
                self._alive[key] = value
            return value

    def _lookup(self, key: Hashable) -> Value:
        """Return the value of `key`, cached or still referenced elsewhere; raise KeyError where there is none."""
        if key not in self._cached and (value := self._alive.get(key)) is not None:
            self._cached[key] = value
        return self._cached[key]


Stamp = tuple[tuple[int, ...], ...]
"""Version of files."""


def stamp(folder: str | Path, *names: str) -> Stamp:
    """Return a fingerprint of the named files in `folder` from their metadata, which changes when a file does.

    For each file: modification and status-change time (ns), size in bytes and inode; empty where it is missing.
    """
    found: list[tuple[int, ...]] = []
    for name in names:
        try:
            metadata = Path(folder, name).stat()
        except OSError:
            found.append(())
            continue
        # Models of one config have the same size, and a copy may keep its modification time: these two do not suffice.
        found.append((metadata.st_mtime_ns, metadata.st_ctime_ns, metadata.st_size, metadata.st_ino))
    return tuple(found)


def cached_in(cache: LRUCache[Any], *files: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Return a decorator that caches a function's results in `cache`, while certain files are the same.

    The key is the arguments whose names do not begin with an underscore; they must be hashable. The decorated function
    takes positional arguments only. The `files` are in the folder that is its first argument; "" is that path itself.
    """

    def decorate(function: Callable[..., Value]) -> Callable[..., Value]:
        names = inspect.signature(function).parameters
        places = [place for place, name in enumerate(names) if not name.startswith("_")]
        name = f"{function.__module__}.{function.__qualname__}"

        @functools.wraps(function)
        def cached(*args: Any) -> Value:
            key = name, *(args[place] for place in places), files and stamp(args[0], *files)
            value: Value = cache.get(key, lambda: function(*args))
            return value

        return cached

    return decorate


_RUN: ContextVar[dict[Hashable, Any] | None] = ContextVar("run", default=None)
"""What the functions of `once_in_run` returned in the run that this thread does, by their arguments."""


def begin_run() -> None:
    """Begin a run, in which this thread calls each function of `once_in_run` once: of a page, or of a fragment."""
    _RUN.set({})


def once_in_run(function: Callable[..., Value]) -> Callable[..., Value]:
    """Cache the results of a function, by its hashable positional arguments, for one run; outside a run, not at all."""

    @functools.wraps(function)
    def cached(*args: Any) -> Value:
        run, key = _RUN.get(), (function, *args)
        if run is None:
            return function(*args)
        if key not in run:
            run[key] = function(*args)
        value: Value = run[key]
        return value

    return cached


def size_of(value: object, most: float = math.inf) -> int:
    """Return the approximate size of a value with everything it contains, in bytes; what occurs twice counts once.

    Where it is more than `most`, stop counting: others wait for the cache meanwhile. An array counts as the whole array
    that it is a view of, for it keeps that in memory.
    """
    counted: dict[int, object] = {}  # keeps temporary objects alive: another would get the same id
    remaining, size = [value], 0
    while remaining and size <= most:
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
