"""A file of what is on show, which the server makes once it is asked for."""

from __future__ import annotations

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import View


def file_link(view: View, label: str, at: str, file: str, key: str) -> None:
    """Draw the way to the file at the address `at`, of what is on show in `view`; it is saved by the name `file`."""
    record = {"label": label, "at": at, "file": file, "room": view.key("room")}
    component("file_link")(key=key, data=record)
