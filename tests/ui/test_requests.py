"""What a browser asks for is done once and in order, whatever becomes of the runs of the page."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from attnviz.ui.requests import Inbox


def sent(*requests: tuple[int, str, Any], tab: str = "tab") -> dict[str, Any]:
    """Return the state of a browser that waits for these requests."""
    return {"tab": tab, "requests": [{"seq": seq, "name": name, "value": value} for seq, name, value in requests]}


def test_two_requests_of_one_tick_both_happen_in_order() -> None:
    box, done = Inbox(), list[Any]()
    box.take_in(sent((1, "page", "lab"), (2, "page", "why")))
    assert box.handle("page", done.append)
    assert done == ["lab", "why"]
    assert not box.handle("page", done.append)


@given(st.lists(st.integers(1, 8), max_size=12))
def test_a_request_is_done_once_however_often_it_is_sent(until: list[int]) -> None:
    """State is sent with every message: all that is not acknowledged comes again."""
    box, done = Inbox(), list[int]()
    for last in until:
        box.take_in(sent(*((seq, "step", seq) for seq in range(1, last + 1))))
        box.handle("step", done.append)
    assert done == list(range(1, max(until, default=0) + 1))


def test_tabs_count_for_themselves_and_a_server_that_begins_again_does_what_it_has_not_acknowledged() -> None:
    box, done = Inbox(), list[Any]()
    box.take_in(sent((1, "page", "lab")))
    box.take_in(sent((1, "page", "why"), tab="other"))
    box.handle("page", done.append)
    assert done == ["lab", "why"]
    assert box.taken == {"tab": 1, "other": 1}
    again = Inbox()
    again.take_in(sent((2, "page", "corpus")))  # the first was acknowledged, and is sent no more
    again.handle("page", done.append)
    assert done[2:] == ["corpus"]


def test_a_run_that_is_broken_off_leaves_its_request_to_the_next() -> None:
    class Stopped(BaseException):
        pass

    def broken_off(_: Any) -> None:
        raise Stopped

    box, done = Inbox(), list[Any]()
    box.take_in(sent((1, "press", "undo"), (2, "press", "clear")))
    with pytest.raises(Stopped):
        box.handle("press", broken_off)
    box.handle("press", done.append)
    assert done == ["undo", "clear"]


def test_what_nothing_on_the_page_wants_is_dropped_but_not_what_came_since() -> None:
    box = Inbox()
    box.take_in(sent((1, "press", "gone")))
    until = dict(box.taken)
    box.take_in(sent((1, "press", "gone"), (2, "press", "here")))
    box.drop(until)
    assert [one.value for one in box.waiting] == ["here"]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["tab", "requests", "seq"]), inner),
    max_leaves=8,
)


@given(anything | st.builds(lambda requests: {"tab": "t", "requests": requests}, st.lists(anything, max_size=3)))
def test_a_browser_may_say_anything(said: Any) -> None:
    box = Inbox()
    box.take_in(said)
    box.handle("page", lambda _: None)


def page() -> None:
    import streamlit as st

    from attnviz.ui.requests import receive, request_button

    receive()
    st.session_state.setdefault("text", "typed")
    st.text_input("Box", key="text")

    def clear() -> None:
        st.session_state["text"] = ""

    request_button("Clear", clear, key="clear_box")


def test_a_button_may_change_what_is_drawn_above_it() -> None:
    app = AppTest.from_function(page).run()
    assert app.text_input(key="text").value == "typed"
    app.button(key="clear_box").click().run()
    assert not app.exception
    assert app.text_input(key="text").value == ""
