"""Inbox of browser requests: each is handled once and in order, even when Streamlit interrupts a run."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from attnviz.ui.requests import Inbox
from tests.conftest import REPOSITORY
from tests.ui.fields import ask, field, fields, set_field
from tests.ui.shown_payloads import mounted


def browser_state(*requests: tuple[int, str, Any], tab: str = "tab", memory: str = "") -> dict[str, Any]:
    """Return the state that a browser sends while these requests are not acknowledged."""
    waiting = [{"seq": seq, "name": name, "value": value} for seq, name, value in requests]
    return {"tab": tab, "memory": memory, "requests": waiting}


def test_two_requests_of_one_message_are_handled_in_order() -> None:
    box, done = Inbox(), list[Any]()
    box.queue_requests(browser_state((1, "page", "lab"), (2, "page", "why")))
    assert box.handle({"page": done.append})
    assert done == ["lab", "why"]
    assert not box.handle({"page": done.append})


@given(st.lists(st.integers(1, 8), max_size=12))
def test_request_is_handled_once_however_often_it_is_sent(until: list[int]) -> None:
    """The browser sends all unacknowledged requests again with every message."""
    box, done = Inbox(), list[int]()
    for last in until:
        box.queue_requests(browser_state(*((seq, "step", seq) for seq in range(1, last + 1))))
        box.handle({"step": done.append})
    assert done == list(range(1, max(until, default=0) + 1))


def test_tabs_are_counted_separately_and_a_restart_handles_pending_requests() -> None:
    box, done = Inbox(), list[Any]()
    box.queue_requests(browser_state((1, "page", "lab")))
    box.queue_requests(browser_state((1, "page", "why"), tab="other"))
    box.handle({"page": done.append})
    assert done == ["lab", "why"]
    assert box.received == {"tab": 1, "other": 1}
    again = Inbox()
    again.queue_requests(browser_state((2, "page", "corpus")))  # the first was acknowledged, so it is not sent again
    again.handle({"page": done.append})
    assert done[2:] == ["corpus"]


def test_session_is_resumed_before_what_was_asked_for_without_a_connection() -> None:
    box, done = Inbox(), list[Any]()
    box.queue_requests(browser_state((4, "page", "lab"), (5, "resume", "?page=why")))
    assert box.handled() == {"tab": 3}
    box.handle({"resume": done.append})
    assert box.handled() == {"tab": 3}, "the page is still to be opened"
    box.handle({"page": done.append})
    assert done == ["?page=why", "lab"]
    assert box.handled() == {"tab": 5}


def test_interrupted_run_leaves_its_request_to_the_next_run() -> None:
    class Stopped(BaseException):
        pass

    def broken_off(_: Any) -> None:
        raise Stopped

    box, done = Inbox(), list[Any]()
    box.queue_requests(browser_state((1, "press", "undo"), (2, "press", "clear")))
    with pytest.raises(Stopped):
        box.handle({"press": broken_off})
    box.handle({"press": done.append})
    assert done == ["undo", "clear"]


def test_runs_of_a_session_do_not_overlap() -> None:
    """The inbox has no lock: with fast reruns, Streamlit would run two threads at once."""
    settings = tomllib.loads((REPOSITORY / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["runner"]["fastReruns"] is False


def test_request_waits_for_earlier_requests() -> None:
    """The visitor chose an example, then typed: the example must not replace the typed text."""
    box, done = Inbox(), list[Any]()
    box.queue_requests(browser_state((1, "press", "example"), (2, "set", "typed")))
    assert not box.handle({"set": done.append})
    assert box.handled() == {"tab": 0}
    box.handle({"press": done.append})
    assert box.handled() == {"tab": 1}
    box.handle({"set": done.append})
    assert (done, box.handled()) == (["example", "typed"], {"tab": 2})


def test_requests_of_different_names_are_handled_in_order() -> None:
    box, done = Inbox(), list[Any]()
    box.queue_requests(browser_state((1, "page", "lab"), (2, "follow", "?step=2"), (3, "page", "why")))
    box.handle({"follow": done.append, "page": done.append})
    assert done == ["lab", "?step=2", "why"]


def test_requests_to_a_previous_server_are_not_repeated() -> None:
    """After a lost connection Streamlit sends the old component state; new state has no server identity."""
    before, box, done = Inbox(), Inbox(), list[Any]()
    box.queue_requests(browser_state((4, "press", "undo"), memory=before.memory))
    assert not box.handle({"press": done.append})
    box.queue_requests(browser_state((5, "resume", "?step=2")))
    box.queue_requests(browser_state((5, "resume", "?step=2"), (6, "press", "undo"), memory=box.memory))
    box.handle({"press": done.append, "resume": done.append})
    assert done == ["?step=2", "undo"]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["tab", "requests", "seq", "name", "memory"]), inner)
    ),
    max_leaves=8,
)


@given(anything | st.builds(lambda requests: {"tab": "t", "requests": requests}, st.lists(anything, max_size=3)))
def test_malformed_messages_do_not_raise(message: Any) -> None:
    box = Inbox()
    box.queue_requests(message)
    box.handle({"page": lambda _: None})


def page() -> None:
    import streamlit as st

    from attnviz.ui import fields
    from attnviz.ui.requests import acknowledge_handled, handle, next_request, receive, request_button

    receive()
    handle({"set": fields.set_value})
    offered = next_request()
    fields.text_box("Box", key="text", default="at first")
    fields.select_box("Choice", {"a": "A", "b": "B"}, key="choice", default="a")
    fields.switch("Switch", key="on")

    def clear() -> None:
        st.session_state["text"] = ""

    request_button("Clear", clear, key="clear_box")
    acknowledge_handled(offered, {})


def test_button_can_change_a_field_drawn_above_it() -> None:
    app = AppTest.from_function(page).run()
    assert field(app, "text")["value"] == "at first"
    app.button(key="clear_box").click().run()
    assert not app.exception
    assert field(app, "text")["value"] == ""


def field_values(app: AppTest) -> dict[str, Any]:
    """Return the values of all fields, by key."""
    assert not app.exception
    return {key: one["value"] for key, one in fields(app).items()}


def test_field_and_button_requests_are_handled_in_order() -> None:
    app = AppTest.from_function(page).run()
    for name, value in (("set", ["text", "one"]), ("press", "clear_box"), ("set", ["choice", "b"])):
        ask(app, name, value)
    assert field_values(app.run()) == {"text": "", "choice": "b", "on": False}
    for name, value in (("press", "clear_box"), ("press", "gone"), ("set", ["text", "two"]), ("unknown", None)):
        ask(app, name, value)
    assert field_values(app.run()) == {"text": "two", "choice": "b", "on": False}
    (end,) = mounted(app, "acknowledgement")
    assert end["handledByTab"] == {"test": 7}


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        ["text"],
        ["text", 1],
        ["choice", "c"],
        ["choice", ["a"]],
        ["on", "1"],
        ["inbox", "x"],
        "text",
        [["a"], 1],
    ],
)
def test_browser_can_set_a_field_only_to_offered_values(value: Any) -> None:
    app = AppTest.from_function(page).run()
    ask(app, "set", value)
    assert field_values(app.run()) == {"text": "at first", "choice": "a", "on": False}


def test_value_set_before_its_field_is_drawn_is_applied() -> None:
    app = AppTest.from_function(page)
    app.session_state["restored_fields"] = {"text": "before the restart"}
    ask(app, "set", ["text", "typed since"])
    ask(app, "set", ["inbox", "x"])
    assert field_values(app.run()) == {"text": "typed since", "choice": "a", "on": False}


def test_field_is_restored_only_to_an_offered_value() -> None:
    app = AppTest.from_function(page)
    app.session_state["restored_fields"] = {"text": "typed", "choice": "gone", "on": True, "inbox": None}
    assert field_values(app.run()) == {"text": "typed", "choice": "a", "on": True}
    assert field_values(set_field(app, "text", "later").run()) == {"text": "later", "choice": "a", "on": True}


def test_value_of_the_wrong_type_is_not_restored() -> None:
    app = AppTest.from_function(page)
    app.session_state["restored_fields"] = {"choice": ["a"], "text": 1}
    assert field_values(app.run()) == {"text": "at first", "choice": "a", "on": False}
