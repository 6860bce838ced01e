"""Mount a button that copies the address of the current view, or another one."""

from __future__ import annotations

from attnviz.languages import gettext
from attnviz.ui.components.component import component


def copy_link(key: str, address: str = "") -> None:
    """Draw the button; it copies this `address`, relative to the app, or that of the page as it is shown now."""
    words = {
        "copy": gettext("Copy link"),
        "copied": gettext("Link copied"),
        "failed": gettext("Copy the link from the address bar"),
    }
    component("copy_link", key=key, data={"words": words, "address": address}, width="content")
