"""Mount a button that copies the address of the current view, and one that opens it in lecture mode."""

from __future__ import annotations

from attnviz.languages import gettext
from attnviz.ui.components.component import component
from attnviz.ui.view import Keyed


def copy_link(view: Keyed) -> None:
    """Draw the two buttons."""
    words = {
        "copy": gettext("Copy link"),
        "copied": gettext("Link copied"),
        "failed": gettext("Copy the link from the address bar"),
        "lecture": gettext("Lecture mode"),
    }
    component("copy_link", key=view.key("copy_link"), data=words, width="content")
