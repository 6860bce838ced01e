"""Mount a frame with the page of a lesson, which the server sends on request."""

from __future__ import annotations

from attnviz.languages import language
from attnviz.ui.components.loader import component


def lesson_frame(at: str, title: str) -> None:
    """Draw the frame with the page at the address `at`, in the current language, and give it the `title`."""
    component("lesson_frame")(key="lesson_frame", data={"at": at, "title": title, "language": language()})
