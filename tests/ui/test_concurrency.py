"""Turns: a limit on simultaneous work, granted in the order of arrival."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from attnviz.ui import turns
from attnviz.ui.turns import Turns, in_turn


def test_concurrent_work_stays_within_the_limit() -> None:
    gate, working, most = Turns(2), [], []

    def work() -> None:
        with gate.held(), gate.held():  # a page, and a fragment of it
            working.append(1)
            most.append(len(working))
            time.sleep(0.005)
            working.pop()

    with ThreadPoolExecutor(10) as threads:
        for done in [threads.submit(work) for _ in range(20)]:
            done.result(30)
    assert max(most) == 2


def test_released_turn_lets_another_thread_work() -> None:
    gate, go = Turns(1), threading.Event()

    def waits() -> bool:
        with gate.held(), gate.released():
            return go.wait(30)

    def works() -> None:
        with gate.held():
            go.set()

    with ThreadPoolExecutor(2) as threads:
        waiting = threads.submit(waits)
        time.sleep(0.05)
        threads.submit(works).result(30)
        assert waiting.result(30)
    with gate.released():  # without a turn, releasing does nothing
        pass
    assert gate._free == 1, "the turn was not given back, or twice"


def test_turn_is_given_back_after_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TURNS", Turns(1))

    @in_turn
    def fails(what: str) -> None:
        with turns.TURNS.released():
            raise KeyError(what)

    for _ in range(3):
        with pytest.raises(KeyError, match="twice"):
            fails("twice")
    assert fails.__name__ == "fails"
