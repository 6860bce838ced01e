"""Limit on simultaneous visitors, the queue of the others, and the position of a sentence that waits."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from attnviz.environment import ATTNVIZ_VISITORS
from attnviz.ui import payloads
from attnviz.ui.admission import IDLE_SECONDS, VisitorLimit, visitor_limit
from attnviz.ui.queue_notice import current_notice
from tests.ui.shown_payloads import plain_texts


class Visitors:
    """VisitorLimit whose visitors arrive and leave, with a simulated clock."""

    def __init__(self, most: int) -> None:
        self.present: set[str] = set()
        self.now = 0.0
        self.limit = VisitorLimit(most, lambda: self.now)

    def place(self, visitor: str) -> int:
        self.present.add(visitor)
        return self.limit.place(visitor)

    def leave(self, visitor: str) -> None:
        self.present.discard(visitor)
        self.limit.leave(visitor)


def test_visitors_are_admitted_in_order_of_arrival() -> None:
    visitors = Visitors(2)
    assert [visitors.place(name) for name in "abcd"] == [0, 0, 1, 2]
    assert [visitors.place(name) for name in "dcba"] == [2, 1, 0, 0]
    visitors.leave("a")
    assert [visitors.place(name) for name in "dc"] == [1, 0]
    visitors.leave("d")  # a visitor in the queue may leave too
    assert visitors.place("e") == 1


def test_idle_visitor_is_replaced_by_the_next_visitor_in_the_queue() -> None:
    visitors = Visitors(2)
    visitors.place("a"), visitors.place("b")
    visitors.now = IDLE_SECONDS - 1
    assert [visitors.place("b"), visitors.place("c")] == [0, 1]
    visitors.now = IDLE_SECONDS
    assert [visitors.place("c"), visitors.place("b"), visitors.place("a")] == [0, 0, 1]
    visitors.now = 10 * IDLE_SECONDS  # without a queue, idle visitors stay
    visitors.leave("a")
    assert [visitors.place("b"), visitors.place("c")] == [0, 0]


@given(
    st.integers(1, 4),
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["look", "leave", "wait"])), max_size=60),
)
def test_active_visitors_stay_within_the_limit_and_the_queue_keeps_its_order(
    most: int, events: list[tuple[str, str]]
) -> None:
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


@pytest.mark.parametrize(("text", "most"), [("", None), (" ", None), ("1", 1), (" 40 ", 40)])
def test_visitor_limit_is_read_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, text: str, most: int | None
) -> None:
    monkeypatch.setenv(ATTNVIZ_VISITORS, text)
    assert visitor_limit() == most


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5"])
def test_visitor_limit_rejects_an_invalid_number(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(ATTNVIZ_VISITORS, text)
    with pytest.raises(ValueError, match="whole number"):
        visitor_limit()


_NOTICE = """
from attnviz.languages import set_language
from attnviz.ui.queue_notice import current_notice, queue_notice
from tests.ui.shown_payloads import plain_texts
from tests.ui.shown_payloads import plain_texts

set_language("{code}")
with queue_notice("visitor"):
    notice = current_notice()
    for position in {positions}:
        notice.show(*position)
    if {is_ready}:
        notice.hide()
"""


def _shown(code: str, *positions: tuple[int, float], is_ready: bool = False) -> list[str]:
    """Return the lines on a page that has shown these positions one after the other."""
    app = AppTest.from_string(_NOTICE.format(code=code, positions=positions, is_ready=is_ready)).run()
    assert not app.exception
    return plain_texts(app)


def test_notice_says_the_position_and_a_long_wait(each_language: str, snapshot: SnapshotAssertion) -> None:
    shown = [_shown(each_language, position) for position in [(12, 47.0), (1, 10.0), (0, 9.0), (3, 0.0)]]
    assert shown == snapshot


def test_notice_shows_one_position_until_the_translation_is_ready() -> None:
    assert _shown("en", (3, 40.0), (2, 20.0)) == _shown("en", (2, 20.0))
    assert _shown("en", (3, 40.0), is_ready=True) == []


def test_payload_is_made_in_the_turn_of_the_visitor_who_requests_it() -> None:
    def visitor(_: object) -> str | None:
        notice = current_notice()
        return notice and notice.visitor

    digest = payloads.shown_address("visitor", {"number": 1}).split("/")[1]
    for name in ("one", None):
        packed, _ = payloads.payload({"visitor": visitor}, digest, "visitor", {"for": str(name)}, name)
        assert json.loads(gzip.decompress(packed)) == name
    assert current_notice() is None
