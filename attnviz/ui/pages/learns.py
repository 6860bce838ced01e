"""The page *How it learns*: where a model looks at moments of its training, and what it has learnt by then."""

from __future__ import annotations

from attnviz.languages import gettext
from attnviz.ui.chrome import Page
from attnviz.ui.learns.choices import forget_choices, open_choices, trainings
from attnviz.ui.learns.room import learns_room


def offered() -> bool:
    """Return whether there is a training to show: without one no way leads to the page."""
    return bool(trainings())


def _draw() -> None:
    open_choices()
    learns_room()


page = Page("learns", lambda: gettext("How it learns"), _draw, forget_choices)
