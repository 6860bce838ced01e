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


def test_a_file_is_taken_once_also_where_its_place_is_still_told_of() -> None:
    """As in a click on what is drawn next, before the run that draws it is at its end."""
    app = AppTest.from_function(page).run()
    for number in range(1, 4):
        (box,) = app.get("file_uploader")
        box.set_value(("a.txt", b"one", "text/plain"))
        told = app._tree.get_widget_states()
        app.run()
        assert app.session_state["taken"] == [("a.txt", b"one")] * number
        app._run(told)
        assert app.session_state["taken"] == [("a.txt", b"one")] * number
        assert not app.exception
        assert app.get("file_uploader")[0].value is None
