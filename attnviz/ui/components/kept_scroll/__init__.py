"""Mount the script that scrolls a list back to where a visitor left it."""

from __future__ import annotations

from attnviz.ui.components.loader import component


def keep_scroll(container: str, name: str) -> None:
    """Keep how far the table in the container with the key `container`, and the page, are scrolled.

    `name` identifies the contents of the list: another list begins at its top.
    """
    component("kept_scroll", isolate=False)(
        key=f"scroll_of_{container}", data={"container": container, "name": name}, height=1
    )
