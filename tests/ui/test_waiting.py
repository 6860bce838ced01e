"""Waiting: turns of threads, places of visitors, the position of a sentence that waits, and quotas of uploads."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from attnviz.ui.waiting import IDLE_SECONDS, FairSemaphore
from tests.benchmarks.visitor import Visitor
from tests.browser.server import running_server


def test_concurrent_work_stays_within_the_limit() -> None:
    gate, working, most, two = FairSemaphore(2), [], [], threading.Barrier(2)

    def work() -> None:
        with gate.held(), gate.held():  # a page, and a fragment of it
            working.append(1)
            most.append(len(working))
            two.wait(30)
            working.pop()

    with ThreadPoolExecutor(10) as threads:
        for done in [threads.submit(work) for _ in range(20)]:
            done.result(30)
    assert max(most) == 2


def test_released_turn_lets_another_thread_work() -> None:
    gate, go = FairSemaphore(1), threading.Event()

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
    assert [gate.place(thread) for thread in (1, 2)] == [0, 1], "the turn was not given back, or twice"


class Visitors:
    """Semaphore whose visitors arrive and leave, with a simulated clock."""

    def __init__(self, most: int) -> None:
        self.present: set[str] = set()
        self.now = 0.0
        self.limit = FairSemaphore(most, IDLE_SECONDS, lambda: self.now)

    def place(self, visitor: str) -> int:
        self.present.add(visitor)
        return self.limit.place(visitor)

    def leave(self, visitor: str) -> None:
        self.present.discard(visitor)
        self.limit.leave(visitor)


def test_idle_visitor_is_replaced_by_the_next_visitor_in_the_queue() -> None:
    visitors = Visitors(2)
    visitors.place("a"), visitors.place("b")
    visitors.now = IDLE_SECONDS - 1
    assert [visitors.place("b"), visitors.place("c")] == [0, 1]
    visitors.now = IDLE_SECONDS
    assert [visitors.place("c"), visitors.place("b"), visitors.place("a")] == [0, 0, 1]


EVENTS = st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["look", "leave", "wait"]))


@given(st.integers(1, 4), st.lists(EVENTS, max_size=60))
def test_active_visitors_stay_within_the_limit_and_the_queue_keeps_its_order(most, events) -> None:
    visitors = Visitors(most)
    before: dict[str, int] = {}
    for visitor, event in events:
        if event == "leave":
            visitors.leave(visitor)
            before.pop(visitor, None)
            continue
        visitors.now += IDLE_SECONDS / 7 if event == "wait" else 1
        place = visitors.place(visitor)
        if before.get(visitor):  # a visitor in the queue never moves back
            assert place <= before[visitor]
        before[visitor] = place
    places = {visitor: visitors.limit.place(visitor) for visitor in sorted(visitors.present)}
    waiting = [place for place in places.values() if place]
    assert len(places) - len(waiting) <= most
    assert not waiting or len(places) > most


def test_notice_says_the_position_and_a_long_wait(snapshot) -> None:
    def page(position: tuple[int, float]) -> None:
        import streamlit as st

        from attnviz.languages import set_language
        from attnviz.ui.waiting import show_position

        set_language("fr")
        show_position(st.empty(), *position)

    positions = [(12, 47.0), (1, 10.0), (0, 9.0), (3, 0.0)]
    apps = [AppTest.from_function(page, kwargs={"position": position}).run() for position in positions]
    assert [[text.value for text in app.text] for app in apps] == snapshot


@pytest.fixture(scope="module")
def upload_server(tmp_path_factory) -> Iterator[str]:
    """Run a page whose quotas are 100 kB for a session and 250 kB for all; return its address."""
    folder = tmp_path_factory.mktemp("uploads")
    with running_server(folder, folder / "page.log", "tests/ui/upload_app.py") as (address, _):
        yield address


async def upload(
    address: str, session: str, file: str, size: int = 0, method: str = "PUT", *, token: bool = True
) -> int:
    """Send `size` bytes as the upload of a session; return the status of the answer."""

    def send() -> int:
        cookies = requests.get(f"{address}/_stcore/health", timeout=30).cookies
        headers = {"X-Xsrftoken": cookies["_streamlit_xsrf"]} if token else {}
        return requests.request(
            method,
            f"{address}/_stcore/upload_file/{session}/{file}",
            files={"x": bytes(size)} if size else None,
            headers=headers,
            cookies=cookies if token else None,
            timeout=30,
        ).status_code

    return await asyncio.to_thread(send)


@asynccontextmanager
async def present(address: str) -> AsyncIterator[str]:
    """Visit the page; yield the id of the session, which then ends."""
    visitor = await Visitor.arrive(address)
    try:
        await visitor.open()
        yield visitor.session
    finally:
        await visitor.leave()


def test_uploads_are_limited_by_what_each_session_and_all_have_in_memory(upload_server) -> None:
    async def visit(address: str) -> None:
        async with present(address) as last, present(address) as other:
            async with present(address) as first:
                for file, size, status in (("a", 20_000, 204), ("a", 30_000, 204), ("b", 60_000, 429)):
                    assert await upload(address, first, file, size) == status
                assert await upload(address, first, "a", method="DELETE") == 204
                assert await upload(address, first, "c", 80_000) == 204, "a deleted upload counts nothing"
                assert await upload(address, other, "a", 80_000) == 204
                assert await upload(address, last, "a", 80_000) == 429
                assert await upload(address, last, "a", 10_000) == 204
            for _ in range(100):  # until the server has noticed that the first visitor has left
                if (status := await upload(address, last, "b", 50_000)) == 204:
                    break
            assert status == 204, "the uploads of a session that has ended count nothing"

    asyncio.run(visit(upload_server))


def test_refused_uploads_count_nothing(upload_server) -> None:
    async def visit(address: str) -> None:
        async with present(address) as session:
            for count in range(43):
                assert await upload(address, session, f"empty{count}") == 400
            for _ in range(5):
                assert await upload(address, "no-session", "x", 80_000) == 400
                assert await upload(address, session, "x", 80_000, token=False) == 403
                assert await upload(address, session, "x", 80_000, "POST") == 405
                assert await upload(address, session, "x", 110_000) == 429
            assert await upload(address, session, "x", 80_000) == 204

    asyncio.run(visit(upload_server))
