"""A link to another page, which the browser asks the server for."""

from __future__ import annotations

from attnviz.ui.components.loader import component


def page_link(path: str, title: str, *, here: bool) -> None:
    """Draw the link to the page at `path`, which is on show where `here` is true."""
    component("page_link", isolate=False)(
        key=f"page_link_{path}", data={"path": path, "title": title, "here": here}, width="content"
    )
