"""The garbage collector of the server: what it passes by, and that it finds what is to be found all the same."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from attnviz.ui.collector import SparedCollector


class Ring:
    """Something that only the collector can free."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def make() -> Iterator[type[SparedCollector]]:
    """Return what makes a collector that is stopped after the test."""
    made: list[SparedCollector] = []

    class Stopped(SparedCollector):
        def start(self) -> None:
            made.append(self)
            super().start()

    yield Stopped
    for one in made:
        one.stop()
    assert not any(isinstance(callback, SparedCollector) for callback in gc.callbacks)
    assert gc.get_freeze_count() == 0


def test_what_is_there_at_the_start_is_passed_by(make: type[SparedCollector]) -> None:
    gc.unfreeze()
    gc.collect()  # what other tests left
    before = len(gc.get_objects())
    make().start()
    assert gc.get_freeze_count() > 0.9 * before
    assert len(gc.get_objects()) < 0.1 * before


def test_what_comes_later_is_passed_by_once_searching_it_takes_long(make: type[SparedCollector]) -> None:
    make(longest=3600).start()
    come = [[] for _ in range(1000)]
    gc.collect()
    assert any(one is come[0] for one in gc.get_objects()), "a short search may search it again"
    make(longest=0).start()
    come += [[] for _ in range(1000)]
    gc.collect()
    assert not any(one is come[-1] for one in gc.get_objects())


def test_new_garbage_is_found_at_the_next_search(make: type[SparedCollector]) -> None:
    make(longest=0).start()
    for _ in range(3):
        ring = Ring()
        gone = weakref.ref(ring)
        del ring
        gc.collect()
        assert gone() is None


def test_garbage_that_was_frozen_when_it_was_none_is_found_in_time(make: type[SparedCollector]) -> None:
    ring = Ring()
    gone = weakref.ref(ring)
    patient = make(longest=0, seconds=3600)
    patient.start()
    del ring
    gc.collect()
    assert gone() is not None, "it was frozen, or this test shows nothing"
    patient.stop()
    ring = Ring()
    gone = weakref.ref(ring)
    make(longest=0, seconds=0).start()
    del ring
    gc.collect()
    assert gone() is None
    assert gc.get_freeze_count() > 0, "what is left is frozen again"


def test_young_searches_change_nothing(make: type[SparedCollector]) -> None:
    make(longest=0).start()
    frozen = gc.get_freeze_count()
    gc.collect(0)
    gc.collect(1)
    assert gc.get_freeze_count() <= frozen
