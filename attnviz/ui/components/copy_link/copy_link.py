"""A button that copies the address, which has in it everything that changes the view, and one that shows it in lecture
mode, which is in the address, too."""

from __future__ import annotations

from attnviz.languages import gettext
from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import Keyed


def copy_link(view: Keyed) -> None:
    """Draw the buttons."""
    words = {
        "copy": gettext("Copy link"),
        "copied": gettext("Link copied"),
        "failed": gettext("Copy it from the address bar"),
        "lecture": gettext("Lecture mode"),
    }
    component("copy_link", isolate=False)(key=view.key("copy_link"), data=words, width="content")
