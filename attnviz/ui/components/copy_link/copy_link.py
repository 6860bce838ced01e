"""A button that copies the address, which has in it everything that changes the view, and one that shows it in lecture
mode, which is in the address, too."""

from __future__ import annotations

from attnviz.languages import say
from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import Keyed


def copy_link(view: Keyed) -> None:
    """Draw the buttons."""
    words = {
        "copy": say("Copy link"),
        "copied": say("Link copied"),
        "failed": say("Copy it from the address bar"),
        "lecture": say("Lecture mode"),
    }
    component("copy_link", isolate=False)(key=view.key("copy_link"), data=words, width="content")
