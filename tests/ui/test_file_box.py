"""Upload widget: a file is processed once, however often the browser sends it."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from attnviz.ui.file_box import file_box
    from attnviz.ui.requests import receive

    def process(name: str, content: bytes) -> None:
        st.session_state.received = [*st.session_state.get("received", []), (name, content)]

    receive()
    file_box("A file", process, key="box", megabytes=1)


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


def test_widget_keeps_its_id_after_an_upload() -> None:
    """A new widget would lose a file that the visitor chooses during a run of the page."""
    app = AppTest.from_function(page).run()
    before = app.get("file_uploader")[0].proto.id
    app.get("file_uploader")[0].set_value(("a.txt", b"one", "text/plain"))
    app.run()
    assert app.get("file_uploader")[0].proto.id == before
