"""What a browser asks for is done once and in order, whatever becomes of the runs of the page."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from attnviz.ui.inbox import Inbox


def sent(*requests: tuple[int, str, Any], tab: str = "tab", seen: int = 0, memory: str = "") -> dict[str, Any]:
    """Return the state of a browser that waits for these requests, and has seen those up to `seen` handled."""
    waiting = [{"seq": seq, "name": name, "value": value} for seq, name, value in requests]
    return {"tab": tab, "memory": memory, "seen": seen, "requests": waiting}


def test_two_requests_of_one_tick_both_happen_in_order() -> None:
    box, done = Inbox(), list[Any]()
    box.take_in(sent((1, "page", "lab"), (2, "page", "why")), {})
    assert box.handle({"page": done.append})
    assert done == ["lab", "why"]
    assert not box.handle({"page": done.append})


@given(st.lists(st.integers(1, 8), max_size=12))
def test_a_request_is_done_once_however_often_it_is_sent(until: list[int]) -> None:
    """State is sent with every message: all that is not acknowledged comes again."""
    box, done = Inbox(), list[int]()
    for last in until:
        box.take_in(sent(*((seq, "step", seq) for seq in range(1, last + 1))), {})
        box.handle({"step": done.append})
    assert done == list(range(1, max(until, default=0) + 1))


def test_tabs_count_for_themselves_and_a_server_that_begins_again_does_what_it_has_not_acknowledged() -> None:
    box, done = Inbox(), list[Any]()
    box.take_in(sent((1, "page", "lab")), {})
    box.take_in(sent((1, "page", "why"), tab="other"), {})
    box.handle({"page": done.append})
    assert done == ["lab", "why"]
    assert box.taken == {"tab": 1, "other": 1}
    again = Inbox()
    again.take_in(sent((2, "page", "corpus")), {})  # the first was acknowledged, and is sent no more
    again.handle({"page": done.append})
    assert done[2:] == ["corpus"]


def test_a_run_that_is_broken_off_leaves_its_request_to_the_next() -> None:
    class Stopped(BaseException):
        pass

    def broken_off(_: Any) -> None:
        raise Stopped

    box, done = Inbox(), list[Any]()
    box.take_in(sent((1, "press", "undo"), (2, "press", "clear")), {})
    with pytest.raises(Stopped):
        box.handle({"press": broken_off})
    box.handle({"press": done.append})
    assert done == ["undo", "clear"]


def test_what_nothing_on_the_page_wants_is_dropped_but_not_what_came_since() -> None:
    box = Inbox()
    box.take_in(sent((1, "press", "gone")), {})
    until = dict(box.taken)
    box.take_in(sent((1, "press", "gone"), (2, "press", "here")), {})
    box.drawn(until)
    assert [one.value for one in box.waiting] == ["here"]


def test_requests_of_several_names_are_handled_in_the_order_they_were_made_in() -> None:
    box, done = Inbox(), list[Any]()
    box.take_in(sent((1, "page", "lab"), (2, "follow", "?step=2"), (3, "page", "why")), {})
    box.handle({"follow": done.append, "page": done.append})
    assert done == ["lab", "?step=2", "why"]


def test_what_was_asked_of_a_server_before_is_not_asked_of_the_next() -> None:
    """Streamlit sends the state that a browser had as the connection was lost; what is made anew knows no server."""
    before, box, done = Inbox(), Inbox(), list[Any]()
    box.take_in(sent((4, "press", "undo"), memory=before.memory), {})
    assert not box.handle({"press": done.append})
    box.take_in(sent((5, "resume", "?step=2")), {})
    box.take_in(sent((5, "resume", "?step=2"), (6, "press", "undo"), memory=box.memory), {})
    box.handle({"press": done.append, "resume": done.append})
    assert done == ["?step=2", "undo"]


def example(box: Inbox, session: dict[str, Any]) -> None:
    """Have a browser with "typed" in its box ask for an example, which is put there."""
    session["text"] = "typed"
    box.take_in(sent((1, "press", "example")), session)
    put = partial(session.update, {"text": "an example"})
    box.handle({"press": lambda _: box.hold(session, put, ("text",))})
    assert session["text"] == "an example"


def test_what_a_broken_off_run_put_into_a_box_is_put_there_again() -> None:
    box, session = Inbox(), dict[str, Any]()
    example(box, session)
    session["text"] = "typed"  # the browser had not seen it
    box.take_in(sent((1, "press", "example")), session)
    assert session["text"] == "an example"


def test_what_is_typed_after_that_stays() -> None:
    box, session = Inbox(), dict[str, Any]()
    example(box, session)
    session["text"] = "typed since"
    for _ in range(2):
        box.take_in(sent((1, "press", "example")), session)
        assert session["text"] == "typed since"


def test_two_effects_come_about_again_also_where_the_browser_has_seen_the_first_alone() -> None:
    """Back and Back: the text that the first put into the box is no text that somebody typed."""
    box, session = Inbox(), dict[str, Any]()
    example(box, session)
    box.drawn(box.taken)
    session["text"] = "typed"  # a box is redrawn later than its end is acknowledged
    box.take_in(sent((2, "follow", "?"), seen=1), session)
    box.handle({"follow": lambda _: box.hold(session, partial(session.update, {"text": "before"}), ("text",))})
    session["text"] = "an example"  # sent before what was before was seen
    box.take_in(sent((2, "follow", "?"), seen=1), session)
    assert session["text"] == "before"


@pytest.mark.parametrize(("seen", "text"), [(0, "an example"), (1, "typed")])
def test_a_message_undoes_what_was_put_into_a_box_only_where_the_browser_had_seen_it(seen: int, text: str) -> None:
    box, session = Inbox(), dict[str, Any]()
    example(box, session)
    box.drawn(box.taken)
    session["text"] = "typed"
    box.take_in(sent((2, "page", "lab"), seen=seen), session)
    assert session["text"] == text


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["tab", "requests", "seq", "name", "seen", "memory"]), inner)
    ),
    max_leaves=8,
)


@given(anything | st.builds(lambda requests: {"tab": "t", "requests": requests}, st.lists(anything, max_size=3)))
def test_a_browser_may_say_anything(said: Any) -> None:
    box = Inbox()
    box.take_in(said, {})
    box.handle({"page": lambda _: None})


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
