"""Mount the script of lecture mode: large text, no secondary parts, a black screen, and a presenter's clicker.

The mode is stored in the browser and its address only.
"""

from __future__ import annotations

from attnviz.languages import gettext, language
from attnviz.ui.components.loader import component


def lecture_mode(page: str) -> None:
    """Listen for the key of lecture mode on `page`, by its path; in the mode, draw the button that leaves it."""
    words = {
        "leave": gettext("Leave lecture mode"),
        "escape": gettext("Esc"),
        "blacken": gettext("Black screen"),
        "entered": gettext("Lecture mode is on; Escape leaves it."),
        "left": gettext("Lecture mode is off."),
    }
    payload = {"page": page, "language": language(), "words": words}
    component("lecture_mode", isolate=False)(key="lecture_mode", data=payload, width="content")
