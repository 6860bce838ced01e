"""Upload widget: a file is processed once, however often the browser sends it."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from attnviz.ui.fields import popover, uploader
    from attnviz.ui.requests import receive

    def process(name: str, content: bytes) -> None:
        st.session_state.received = [*st.session_state.get("received", []), (name, content)]

    receive()
    with popover("Open", key="box", on_change="rerun"):
        uploader("A file", process, key="box", megabytes=1)


def test_file_is_processed_once_however_often_the_browser_sends_it() -> None:
    app = AppTest.from_function(page).run()
    for number in range(1, 4):
        (box,) = app.get("file_uploader")
        box.set_value(("a.txt", b"one", "text/plain"))
        sent = app._tree.get_widget_states()
        app.run()
        assert app.session_state["received"] == [("a.txt", b"one")] * number
        app._run(sent)
        assert app.session_state["received"] == [("a.txt", b"one")] * number
        assert not app.exception


def test_box_is_closed_and_empty_after_each_file() -> None:
    app = AppTest.from_function(page).run()
    for number in range(3):
        app.session_state[f"box_{number}"] = True
        app.run()
        box = app.get("popover")[0].proto.popover
        assert box.open
        app.get("file_uploader")[0].set_value(("a.txt", b"one", "text/plain")).run()
        next_box = app.get("popover")[0].proto.popover
        assert not next_box.open
        assert next_box.id != box.id
        assert app.get("file_uploader")[0].value is None
