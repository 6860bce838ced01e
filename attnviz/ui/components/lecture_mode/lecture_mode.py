"""The program of lecture mode, on every page: what a projector has no room for is away, what is read is larger, and the
keys of a clicker step. It lives in the browser alone, and in the address."""

from __future__ import annotations

from attnviz.languages import gettext, language
from attnviz.ui.components.loader import component


def lecture_mode(page: str) -> None:
    """Have `page`, by its path, listen to the key of lecture mode; in it, draw what leaves it."""
    words = {
        "leave": gettext("Leave lecture mode"),
        "escape": gettext("Esc"),
        "blacken": gettext("Black screen"),
        "entered": gettext("Lecture mode is on; Escape leaves it."),
        "left": gettext("Lecture mode is off."),
    }
    record = {"page": page, "language": language(), "words": words}
    component("lecture_mode", isolate=False)(key="lecture_mode", data=record, width="content")
