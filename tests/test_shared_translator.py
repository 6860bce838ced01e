"""`SharedTranslator` and `FairQueue`: shared batches, own results and errors, order and bound of waiting."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, count, repeat
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import AttnvizError, Trace, Translator
from attnviz.fair_queue import FairQueue
from attnviz.languages import set_language
from attnviz.shared_translator import GRACE_SECONDS, SharedTranslator
from tests.conftest import SENTENCES
from tests.processes import wait_until
from tests.test_translator import assert_alike


class BlockingTranslator:
    """A translator whose first batch waits for the event `go`, and which records its batches."""

    def __init__(self, translator: Translator) -> None:
        self._translator = translator
        self.batches: list[list[str]] = []
        self.go = threading.Event()
        self.check = translator.check

    def translate(self, text: str, **how: Any) -> Trace:
        self.batches.append([text])
        assert self.go.wait(30)
        return self._translator.translate(text, **how)

    def translate_together(self, texts: list[str], **how: Any) -> list[Trace]:
        self.batches.append(texts)
        return self._translator.translate_together(texts, **how)


Ask = Callable[..., "Future[Trace]"]


@pytest.fixture
def blocking(translator) -> BlockingTranslator:
    return BlockingTranslator(translator)


@pytest.fixture
def shared(blocking) -> SharedTranslator:
    return SharedTranslator(blocking)  # it has the attributes that are used


@pytest.fixture
def ask(shared) -> Iterator[Ask]:
    """Return a function that requests a translation in a new thread, and returns once the request waits."""
    with ThreadPoolExecutor(40) as threads:

        def ask_for(text: str, **how: Any) -> Future[Trace]:
            waiting = [*shared._queue]
            future = threads.submit(shared.translate, text, **how)
            wait_until(lambda: [*shared._queue] != waiting or future.done())
            return future

        yield ask_for


@pytest.fixture
def busy(blocking, shared) -> Iterator[None]:
    """Keep the translator busy until the test sets the event `go`."""
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(shared.translate, "Two dogs.")
        wait_until(lambda: blocking.batches)
        yield
        blocking.go.set()
        assert first.result(30).source_text == "Two dogs."


@pytest.mark.usefixtures("busy")
def test_other_options_and_given_targets_get_own_batches(translator, blocking, ask) -> None:
    a, b, c, d = SENTENCES[:4]
    two, three, dog, cat = {"beam": 2}, {"beam": 3}, {"target": "Un chien."}, {"target": "Un chat."}
    hows = [(a, two), (b, three), (c, dog), (d, two), (a, cat), (c, three)]
    asked = [ask(text, **how) for text, how in hows]
    blocking.go.set()
    for (text, how), future in zip(hows, asked, strict=True):
        assert_alike(future.result(30), translator.translate(text, **how))
    assert sorted(map(sorted, blocking.batches)) == sorted(map(sorted, [["Two dogs."], [a, d], [b, c], [c], [a]]))


class LeftError(Exception):
    """The visitor has left."""


def leave(*_: object) -> None:
    raise LeftError


@pytest.fixture
def _quick_polling(monkeypatch) -> None:
    monkeypatch.setattr("attnviz.shared_translator.POLLING_SECONDS", 0.01)


@pytest.mark.usefixtures("busy", "_quick_polling")
def test_client_that_asks_again_keeps_its_place(blocking, shared, ask) -> None:
    first = ask(SENTENCES[0], client="a", waiting=leave)
    with pytest.raises(LeftError):
        first.result(30)
    (request,) = shared._queue
    other = ask(SENTENCES[0], client="b", beam=2)
    with ThreadPoolExecutor(1) as thread:
        again = thread.submit(shared.translate, SENTENCES[0], client="a")
        wait_until(lambda: request.threads)
        assert next(iter(shared._queue)) is request
        blocking.go.set()
        assert again.result(30) is request.trace.result(30)
    other.result(30)


@pytest.mark.usefixtures("busy", "_quick_polling")
def test_abandoned_request_is_dropped_after_a_while(blocking, shared, ask, monkeypatch) -> None:
    with pytest.raises(LeftError):
        ask(SENTENCES[0], client="a", waiting=leave).result(30)
    now = time.monotonic()
    monkeypatch.setattr("attnviz.shared_translator.time", SimpleNamespace(monotonic=lambda: now + GRACE_SECONDS + 1))
    stayed = ask(SENTENCES[1], client="b")
    blocking.go.set()
    stayed.result(30)
    assert not [*shared._queue]


@pytest.mark.usefixtures("busy", "_quick_polling")
def test_waiting_thread_learns_its_position_and_wait(blocking, shared, ask) -> None:
    shared._recent_cost, shared._recent_seconds = 2.0, 1.0  # half a second for a word, and a hypothesis of it
    told: list[tuple[int, float]] = []
    first = ask("One dog.", client="a")
    second = ask("Three big dogs.", client="b", waiting=lambda *position: told.append(position))
    wait_until(lambda: told)
    blocking.go.set()
    first.result(30), second.result(30)
    count, seconds = told[0]
    assert count == 1
    assert (2 + 3) / 2 <= seconds <= (2 + 2 + 3) / 2  # "Two dogs." is under way, for however long


@pytest.mark.usefixtures("busy")
def test_error_reaches_only_its_caller_in_their_language(blocking, shared, ask) -> None:
    asked = ask(SENTENCES[0])

    def in_french() -> Trace:
        set_language("fr")
        return shared.translate(" ")

    with ThreadPoolExecutor(1) as french, pytest.raises(AttnvizError, match="vide"):
        french.submit(in_french).result(30)
    with pytest.raises(AttnvizError, match="empty"):
        shared.translate("")
    blocking.go.set()
    assert asked.result(30).source_text == SENTENCES[0]


@pytest.mark.usefixtures("busy")
def test_failing_batch_is_retried_one_by_one(blocking, ask, monkeypatch) -> None:
    true = blocking.translate

    def translate(text: str, **how: Any) -> Trace:
        if text == SENTENCES[1]:
            raise MemoryError
        return true(text, **how)

    def together(texts: list[str], **_: Any) -> list[Trace]:
        raise MemoryError

    monkeypatch.setattr(blocking, "translate", translate)
    monkeypatch.setattr(blocking, "translate_together", together)
    asked = [ask(text) for text in SENTENCES[:3]]
    blocking.go.set()
    assert asked[0].result(30).source_text == SENTENCES[0]
    assert asked[2].result(30).source_text == SENTENCES[2]
    with pytest.raises(MemoryError):
        asked[1].result(30)


COSTS = st.integers(1, 200)


def served(queue: FairQueue[str]) -> str:
    first = next(iter(queue))
    queue.serve(first)
    return first


def test_credit_lets_a_client_go_first_again_but_not_for_ever() -> None:
    def turns(credit: int) -> int:
        """Return how many small items of a client that always has one are served before a large one of another."""
        queue: FairQueue[str] = FairQueue(credit)
        for client in "bcde":
            queue.add(f"large {client}", client, 100)
        for number in count():
            queue.add(f"small {number}", "a", 10)
            if served(queue).startswith("large"):
                return number
        raise AssertionError

    assert turns(0) == 9
    assert turns(50) == 14


@given(
    st.lists(
        st.tuples(st.sampled_from(["add", "drop", "serve"]), st.sampled_from("abcd"), COSTS, st.integers(0, 9)),
        max_size=80,
    ),
    COSTS,
    st.lists(st.lists(st.tuples(st.sampled_from("abcd"), COSTS), max_size=3), max_size=40),
    st.sampled_from([0, 100]),
)
def test_clients_only_item_waits_no_longer_than_with_equal_shares(before, cost, later, credit) -> None:
    queue, costs, numbers = FairQueue[int](credit), dict[int, int](), count(1)

    def add(client: str, size: int) -> None:
        number = next(numbers)
        costs[number] = size
        queue.add(number, client, size)

    for event, client, size, place in before:
        waiting = [*queue]
        if event == "add":
            add(client, size)
        elif event == "drop" and waiting:
            queue.drop(waiting[place % len(waiting)])
        elif waiting:
            queue.serve(waiting[0])
    costs[0] = cost
    queue.add(0, "only", cost)
    work = 0
    for new in chain(later, repeat([])):
        first = next(iter(queue))
        queue.serve(first)
        work += costs[first]
        if first == 0:
            break
        for client, size in new:
            add(client, size)
    assert work <= 5 * cost + 4 * credit + max(costs.values())


@given(st.lists(st.tuples(st.sampled_from("abc"), COSTS), min_size=1))
def test_dropped_items_leave_no_trace(items) -> None:
    queue: FairQueue[int] = FairQueue()
    for number, (client, size) in enumerate(items):
        queue.add(number, client, size)
    for number in reversed(range(len(items))):
        queue.drop(number)
    for client in "cab":
        queue.add(ord(client), client, 1)
    assert [*queue] == [*map(ord, "cab")]
