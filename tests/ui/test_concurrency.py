"""Turns: few work at a time, all in the order in which they came."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from attnviz.ui import concurrency
from attnviz.ui.concurrency import Turns, in_turn


def test_no_more_work_at_a_time_than_may() -> None:
    gate, working, most = Turns(2), [], []

    def work() -> None:
        with gate.taken(), gate.taken():  # a page, and a fragment of it
            working.append(1)
            most.append(len(working))
            time.sleep(0.005)
            working.pop()

    with ThreadPoolExecutor(10) as threads:
        for done in [threads.submit(work) for _ in range(20)]:
            done.result(30)
    assert max(most) == 2


def test_who_waits_for_something_lets_others_work() -> None:
    gate, go = Turns(1), threading.Event()

    def waits() -> bool:
        with gate.taken(), gate.left():
            return go.wait(30)

    def works() -> None:
        with gate.taken():
            go.set()

    with ThreadPoolExecutor(2) as threads:
        waiting = threads.submit(waits)
        time.sleep(0.05)
        threads.submit(works).result(30)
        assert waiting.result(30)
    with gate.left():  # who has no turn has none to leave
        pass
    assert gate._free.acquire(blocking=False), "nobody has it"
    assert not gate._free.acquire(blocking=False), "there was only one"


def test_a_failure_gives_the_turn_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "TURNS", Turns(1))

    @in_turn
    def fails(what: str) -> None:
        with concurrency.TURNS.left():
            raise KeyError(what)

    for _ in range(3):
        with pytest.raises(KeyError, match="twice"):
            fails("twice")
    assert fails.__name__ == "fails"
