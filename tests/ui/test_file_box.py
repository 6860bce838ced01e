"""A visitor's file is taken once, however often the browser tells of it."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from attnviz.ui.file_box import file_box
    from attnviz.ui.requests import receive

    def take(name: str, content: bytes) -> None:
        st.session_state.taken = [*st.session_state.get("taken", []), (name, content)]

    receive()
    file_box("A file", take, key="box", megabytes=1)


def test_a_file_is_taken_once_however_often_the_browser_sends_it() -> None:
    app = AppTest.from_function(page).run()
    for number in range(1, 4):
        (box,) = app.get("file_uploader")
        box.set_value(("a.txt", b"one", "text/plain"))
        sent = app._tree.get_widget_states()
        app.run()
        assert app.session_state["taken"] == [("a.txt", b"one")] * number
        app._run(sent)
        assert app.session_state["taken"] == [("a.txt", b"one")] * number
        assert not app.exception


def test_another_file_meets_the_same_widget() -> None:
    """A widget in its place would lose a file that is chosen while the page is drawn."""
    app = AppTest.from_function(page).run()
    before = app.get("file_uploader")[0].proto.id
    app.get("file_uploader")[0].set_value(("a.txt", b"one", "text/plain"))
    app.run()
    assert app.get("file_uploader")[0].proto.id == before
