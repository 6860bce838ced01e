"""The thread-safe LRU cache, bounded in bytes: eviction, sharing and concurrent creation."""

import contextvars
import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.lru_cache import LRUCache, begin_run, cached_in, once_in_run, size_of
from tests.processes import wait_until


class Thing:
    def __init__(self, size: int) -> None:
        self.size = size


def cache_of_bytes(most: int) -> LRUCache[Thing]:
    return LRUCache(most, size=lambda thing: thing.size)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 40)), max_size=60), st.integers(1, 100))
def test_cache_evicts_least_recently_used_beyond_its_bytes(asked, most) -> None:
    cache = cache_of_bytes(most)
    size_of: dict[int, int] = {}
    order: list[int] = []
    for key, size in asked:
        there = key in order
        made: list[int] = []
        thing = cache.get(key, lambda key=key, size=size, made=made: made.append(key) or Thing(size))
        assert bool(made) != there
        if made:
            size_of[key] = size
        assert thing.size == size_of[key]
        order = [*(one for one in order if one != key), key]
        while sum(size_of[one] for one in order) > most and len(order) > 1:
            order.pop(0)
        del thing
        assert cache.bytes == min(most, sum(size_of[one] for one in order))


def test_threads_share_creation_of_equal_keys_only() -> None:
    cache, go, made = cache_of_bytes(100), threading.Event(), []

    def slowly() -> Thing:
        made.append(threading.get_ident())
        assert go.wait(30)
        return Thing(1)

    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(cache.get, "slow", slowly) for _ in range(7)]
        wait_until(lambda: made)
        assert cache.get("quick", lambda: Thing(2)).size == 2
        go.set()
        assert len({id(future.result(30)) for future in asked}) == 1
    assert len(made) == 1


def test_failed_creation_is_not_cached_or_shared() -> None:
    cache, go, begun = cache_of_bytes(100), threading.Event(), threading.Event()

    def fails() -> Thing:
        begun.set()
        assert go.wait(30)
        raise KeyError("mine")

    with ThreadPoolExecutor(2) as threads:
        failing = threads.submit(cache.get, "it", fails)
        assert begun.wait(30)
        waiting = threads.submit(cache.get, "it", lambda: Thing(3))
        go.set()
        with pytest.raises(KeyError, match="mine"):
            failing.result(30)
        assert waiting.result(30).size == 3
    assert cache.get("it", lambda: pytest.fail("it is there")).size == 3


def test_evicted_value_is_found_as_long_as_one_that_was_offered_for_it_exists() -> None:
    cache = cache_of_bytes(100)
    first, equal = Thing(60), Thing(60)
    assert cache.add("it", first) is cache.add("it", equal) is first
    cache.add("another", Thing(60))
    del first
    gc.collect()
    assert cache.find("it") is not None
    cache.add("another", Thing(60))
    del equal
    gc.collect()
    assert cache.find("it") is None


def test_cached_function_ignores_uncounted_arguments() -> None:
    cache, calls = LRUCache[object](100), []

    @cached_in(cache)
    def described(_trace: list[int], identity: str, step: int) -> str:
        calls.append(step)
        return f"{identity} {step} {len(_trace)}"

    @cached_in(cache)
    def drawn(_trace: list[int], identity: str, step: int) -> str:
        return "another function"

    assert described([1, 2], "a", 1) == described([], "a", 1) == "a 1 2"
    assert described([], "a", 2) == "a 2 0"
    assert drawn([], "a", 2) == "another function"
    assert calls == [1, 2]
    assert described.__name__ == "described"
    with pytest.raises(TypeError, match="unhashable"):
        described([], ["a"], 1)


def test_function_is_called_once_in_a_run_and_each_time_outside() -> None:
    calls = list[int]()

    @once_in_run
    def doubled(number: int) -> int:
        calls.append(number)
        return 2 * number

    def run() -> None:
        begin_run()
        assert [doubled(1), doubled(1), doubled(2)] == [2, 2, 4]

    for _ in range(2):
        contextvars.copy_context().run(run)
    assert [doubled(1), doubled(1)] == [2, 2]
    assert calls == [1, 2, 1, 2, 1, 1]


def test_size_of_a_view_is_that_of_its_whole_array_counted_once() -> None:
    whole = np.zeros((100, 1000))
    rows = list(whole)
    assert 800_000 < size_of(rows) < 820_000
    assert 800_000 < size_of(rows[7][3:]) < 801_000, "it keeps the whole array in memory"
    assert 8000 < size_of(np.frombuffer(bytes(8000))) < 8300, "memory that another library owns"
    assert 100 < size_of(["x" * 60] * 1000) - 8000 < 300
    assert 8000 < size_of([[], *([bytes(100)] for _ in range(999))], most=8000) < 9000, "the rest is not counted"
