"""Mount a download link for the current selection of a view; the server makes the file on request."""

from __future__ import annotations

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import Keyed


def file_link(view: Keyed, label: str, at: str, file: str, key: str) -> None:
    """Draw the link to the file at the address `at`, for the current selection in `view`; it is saved as `file`."""
    payload = {"label": label, "at": at, "file": file, "container": view.key("room")}
    component("file_link")(key=key, data=payload)
