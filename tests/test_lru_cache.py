"""A cache bounded in bytes: what it keeps, what it lets go, and that nothing is made twice at a time."""

from __future__ import annotations

import dataclasses
import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from attnviz.lru_cache import LRUCache, cached_in, size_of


class Thing:
    def __init__(self, size: int) -> None:
        self.size = size


def kept_up_to(most: int) -> LRUCache[Thing]:
    return LRUCache(most, size=lambda thing: thing.size)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 40)), max_size=60), st.integers(1, 100))
def test_it_keeps_what_was_asked_for_last_within_its_bytes(asked: list[tuple[int, int]], most: int) -> None:
    kept = kept_up_to(most)
    size_of: dict[int, int] = {}
    order: list[int] = []
    for key, size in asked:
        there = key in order
        made: list[int] = []
        thing = kept.get(key, lambda key=key, size=size, made=made: made.append(key) or Thing(size))
        assert bool(made) != there
        if made:
            size_of[key] = size
        assert thing.size == size_of[key]
        order = [*(one for one in order if one != key), key]
        while sum(size_of[one] for one in order) > most and len(order) > 1:
            order.pop(0)
        del thing
        assert kept.bytes == sum(size_of[one] for one in order)
        assert kept.bytes <= most or len(order) == 1


def test_what_somebody_holds_is_not_made_again() -> None:
    kept = kept_up_to(10)
    first = kept.get("first", lambda: Thing(8))
    kept.get("second", lambda: Thing(8))
    assert kept.bytes == 8
    assert kept.get("first", lambda: pytest.fail("it is there")) is first
    kept.get("second", lambda: Thing(8))
    del first
    gc.collect()
    assert kept.get("first", lambda: Thing(5)).size == 5


def test_threads_that_ask_for_the_same_get_one_object_and_others_do_not_wait() -> None:
    kept, go, made = kept_up_to(100), threading.Event(), []

    def slowly() -> Thing:
        made.append(threading.get_ident())
        assert go.wait(30)
        return Thing(1)

    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(kept.get, "slow", slowly) for _ in range(7)]
        while not made:
            time.sleep(0.001)
        assert kept.get("quick", lambda: Thing(2)).size == 2
        go.set()
        assert len({id(future.result(30)) for future in asked}) == 1
    assert len(made) == 1


def test_what_fails_is_not_kept_and_fails_for_nobody_else() -> None:
    kept, go, begun = kept_up_to(100), threading.Event(), threading.Event()

    def fails() -> Thing:
        begun.set()
        assert go.wait(30)
        raise KeyError("mine")

    with ThreadPoolExecutor(2) as threads:
        failing = threads.submit(kept.get, "it", fails)
        assert begun.wait(30)
        waiting = threads.submit(kept.get, "it", lambda: Thing(3))
        go.set()
        with pytest.raises(KeyError, match="mine"):
            failing.result(30)
        assert waiting.result(30).size == 3
    assert kept.get("it", lambda: pytest.fail("it is there")).size == 3


def test_what_nothing_can_refer_to_weakly_is_kept_all_the_same() -> None:
    kept = LRUCache[str](10, size=len)
    assert kept.get(1, lambda: "one" * 3) == "oneoneone"
    assert kept.get(1, lambda: pytest.fail("it is there")) == "oneoneone"
    kept.get(2, lambda: "two")
    assert kept.bytes == 3
    assert kept.get(1, lambda: "again") == "again"


def test_a_function_is_called_once_for_the_arguments_that_count() -> None:
    kept, calls = LRUCache[object](100, size=size_of), []

    @cached_in(kept)
    def told(_trace: list[int], identity: str, step: int) -> str:
        calls.append(step)
        return f"{identity} {step} {len(_trace)}"

    @cached_in(kept)
    def drawn(_trace: list[int], identity: str, step: int) -> str:
        return "another function"

    assert told([1, 2], "a", 1) == told([], "a", 1) == "a 1 2"
    assert told([], "a", 2) == "a 2 0"
    assert drawn([], "a", 2) == "another function"
    assert calls == [1, 2]
    assert told.__name__ == "told"
    with pytest.raises(TypeError, match="unhashable"):
        told([], ["a"], 1)


def test_sizes_are_those_of_all_that_a_value_is_made_of() -> None:
    text, array = "x" * 1000, np.zeros(500, dtype="f4")
    assert 1000 < size_of(text) < 1100
    assert 2000 < size_of(array) < 2300
    nested = {"a": [text, (array, b"y" * 700)], "b": {1: text[:300]}}
    assert 4000 < size_of(nested) < 5200


def test_the_size_of_a_record_is_that_of_its_fields() -> None:
    @dataclasses.dataclass(frozen=True)
    class Record:
        text: str
        array: NDArray[np.float32]

    assert 5000 < size_of(Record("x" * 1000, np.zeros(1000, dtype="f4"))) < 5400
    assert size_of(Record) < 3000, "a class is no record"
