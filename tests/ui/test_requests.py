"""Fields in the address and browser requests: each is handled once and in order, and bad values are reported."""

import tomllib
from collections.abc import Container
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from attnviz.ui.controls import Inbox
from attnviz.ui.embedding import in_session
from attnviz.ui.inputs import follow_link, link_problems, read_link
from attnviz.ui.selection import offered_in
from attnviz.ui.view import MAIN, View
from tests.conftest import REPOSITORY
from tests.figures import synthetic
from tests.ui.opening import ask, field, fields, followed, set_field
from tests.ui.shown_payloads import address, mounted


def browser_state(*requests: tuple[int, str, Any], tab: str = "tab", memory: str = "") -> dict[str, Any]:
    """Return the state that a browser sends while these requests are not acknowledged."""
    waiting = [{"seq": seq, "key": key, "value": value} for seq, key, value in requests]
    return {"tab": tab, "memory": memory, "requests": waiting}


@given(st.lists(st.integers(1, 8), max_size=12))
def test_request_is_handled_once_however_often_it_is_sent(until: list[int]) -> None:
    """The browser sends all unacknowledged requests again with every message."""
    box, done = Inbox(), list[int]()
    for last in until:
        box.handle(browser_state(*((seq, "step", seq) for seq in range(1, last + 1))), {"step": done.append})
    assert done == list(range(1, max(until, default=0) + 1))


def test_tabs_are_counted_separately() -> None:
    box, done = Inbox(), list[Any]()
    box.handle(browser_state((1, "page", "lab")), {})
    box.handle(browser_state((1, "page", "why"), tab="other"), {"page": done.append})
    assert done == ["lab", "why"]
    assert box.received == {"tab": 1, "other": 1}


def test_interrupted_run_leaves_its_request_to_the_next_run() -> None:
    class Stopped(BaseException):
        pass

    def broken_off(_: Any) -> None:
        raise Stopped

    box, done = Inbox(), list[Any]()
    state = browser_state((1, "press", "undo"), (2, "press", "clear"))
    with pytest.raises(Stopped):
        box.handle(state, {"press": broken_off})
    box.handle(state, {"press": done.append})
    assert done == ["undo", "clear"]


def test_requests_to_a_previous_server_are_not_repeated() -> None:
    """After a lost connection Streamlit sends the old component state; new state has no server identity."""
    before, box, done = Inbox(), Inbox(), list[Any]()
    box.handle(browser_state((4, "press", "undo"), memory=before.memory), {"press": done.append})
    assert done == []
    box.handle(browser_state((5, "resume", "?step=2")), {})
    state = browser_state((5, "resume", "?step=2"), (6, "press", "undo"), memory=box.memory)
    box.handle(state, {"press": done.append, "resume": done.append})
    assert done == ["?step=2", "undo"]


def page() -> None:
    import streamlit as st

    from attnviz.ui import controls as fields
    from attnviz.ui.controls import begin_page, end_page, request_button

    begin_page({})
    fields.text_box("Box", key="text", default="at first")
    fields.select_box("Choice", {"a": "A", "b": "B"}, key="choice", default="a")
    fields.switch("Switch", key="on")

    def clear() -> None:
        st.session_state["text"] = ""

    request_button("Clear", clear, key="clear_box")
    end_page({})


def field_values(app: AppTest) -> dict[str, Any]:
    assert not app.exception
    return {key: one["value"] for key, one in fields(app).items()}


def test_field_and_button_requests_are_handled_in_order() -> None:
    app = AppTest.from_function(page).run()
    for key, value in (("text", "one"), ("clear_box", None), ("choice", "b")):
        ask(app, key, value)
    assert field_values(app.run()) == {"text": "", "choice": "b", "on": False}
    for key, value in (("clear_box", None), ("gone", 1), ("text", "two"), ("unknown", None)):
        ask(app, key, value)
    assert field_values(app.run()) == {"text": "two", "choice": "b", "on": False}
    (end,) = mounted(app, "acknowledgement")
    assert end["handledByTab"] == {"test": 7}


def test_field_is_set_or_restored_only_to_an_offered_value() -> None:
    app = AppTest.from_function(page).run()
    for key, value in (("text", 1), ("choice", "c"), ("choice", ["a"]), ("on", "1"), ("inbox", "x"), ("text", None)):
        ask(app, key, value)
        assert field_values(app.run()) == {"text": "at first", "choice": "a", "on": False}, value
    app = AppTest.from_function(page)
    app.session_state["restored_fields"] = {"text": "typed", "choice": "gone", "on": True, "inbox": None}
    assert field_values(app.run()) == {"text": "typed", "choice": "a", "on": True}
    assert field_values(set_field(app, "text", "later").run()) == {"text": "later", "choice": "a", "on": True}


TWO_PAGES = """
from attnviz.ui.chrome import Page, run_pages
from attnviz.ui.controls import segmented_control, select_box, switch, text_box


def draw():
    text_box("Text", key="text", default="as it was", parameter="text")
    segmented_control("Choice", {"a": "A", "b": "B"}, key="chosen", default="a", parameter="choice")
    switch("On", key="on", parameter="on")


def draw_other():
    select_box("Size", {"1": "one", "2": "two"}, key="size", default="1", parameter="size")


run_pages([Page("", lambda: "Test", draw), Page("other", lambda: "Other", draw_other)])
"""


def opened(**linked: str) -> AppTest:
    return followed(AppTest.from_string(TWO_PAGES, default_timeout=60), linked)


def go(app: AppTest, key: str, place: str) -> None:
    """Follow a link (`key` "follow") or go to a page ("page"). AppTest (Streamlit 1.67) knows pages in files only."""
    ask(app, key, place)
    assert not app.run().exception
    app._page_hash = calc_hash(place.partition("?")[0].strip("/"))


def values(app: AppTest, *names: str) -> list[object]:
    return [field(app, name)["value"] for name in names]


def problems(app: AppTest) -> dict[str, Any]:
    return mounted(app, "link_messages")[0]["problems"]


def test_link_sets_fields_and_the_address_has_what_differs_from_the_default() -> None:
    assert address(opened()) == {}
    app = opened(text="other", choice="b", on="1")
    assert values(app, "text", "chosen", "on") == ["other", "b", True]
    assert address(app) == {"text": "other", "choice": "b", "on": "1"}
    set_field(app, "chosen", "a")
    set_field(app, "text", "as it was")
    assert address(app) == {"on": "1"}
    for name, value in (("choice", "c"), ("choice", ""), ("on", "2")):
        app = opened(text="other", **{name: value})
        assert values(app, "text", "chosen", "on") == ["other", "a", False]
        assert address(app) == {"text": "other"}
        assert {problem: stated["value"] for problem, stated in problems(app).items()} == {name: value}


def test_another_link_clears_the_fields_of_its_page_only() -> None:
    app = opened(text="other", choice="b", on="2")
    go(app, "follow", "/other?size=2")
    assert values(app, "size") == ["2"]
    assert problems(app) == {}, "the problem was of the previous link"
    go(app, "page", "")
    assert values(app, "text", "chosen", "on") == ["other", "b", False], "what was chosen survives another page"
    go(app, "follow", "/?choice=c")
    assert values(app, "text", "chosen", "on") == ["as it was", "a", False]
    assert list(problems(app)) == ["choice"]
    go(app, "page", "other")
    assert values(app, "size") == ["2"]
    assert problems(app) == {}


def test_choice_just_after_a_page_link_keeps_both() -> None:
    app = opened(text="other")
    go(app, "page", "other")
    app._page_hash = calc_hash("")  # as a browser sends it that does not know of the other page yet
    ask(app, "chosen", "b")
    assert "size" in field_values(app.run())
    go(app, "page", "")
    assert values(app, "text", "chosen") == ["other", "b"]


OFFERED = offered_in(View(MAIN, synthetic.trace())) | {"update": range(1, 10)}


@given(st.dictionaries(st.sampled_from(sorted(OFFERED)), st.text(max_size=60)))
def test_every_invalid_link_value_is_reported(linked: dict[str, str]) -> None:
    with in_session({}):
        follow_link(linked | {"unknown": "?"})
        read_link(OFFERED)
        stated = {name: one["value"] for name, one in link_problems().items()}
    wrong = {name: value for name, value in linked.items() if OFFERED[name] and not is_valid(value, OFFERED[name])}
    assert stated == wrong


def is_valid(value: str, offered: Container[Any]) -> bool:
    if isinstance(offered, range):
        return value.isascii() and value.isdigit() and len(value) < 7 and int(value) in offered
    return value in offered


def test_runs_of_a_session_do_not_overlap() -> None:
    """The inbox has no lock: with fast reruns, Streamlit would run two threads at once."""
    settings = tomllib.loads((REPOSITORY / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["runner"]["fastReruns"] is False


def test_session_is_resumed_before_what_was_asked_for_without_a_connection() -> None:
    box, done = Inbox(), list[Any]()
    state = browser_state((4, "page", "lab"), (5, "resume", "/why"))
    box.handle(state, {})
    assert box.handled() == {"tab": 3}
    box.handle(state, {"resume": done.append})
    assert box.handled() == {"tab": 3}, "the page is still to be opened"
    box.handle(state, {"page": done.append})
    assert done == ["/why", "lab"]
    assert box.handled() == {"tab": 5}
