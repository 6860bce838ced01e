"""The page *How it learns*: where a model attends at checkpoints of its training, and what it has learnt."""

from __future__ import annotations

from attnviz.languages import gettext
from attnviz.ui.chrome import Page
from attnviz.ui.learns.learning_choices import forget_choices, open_choices, trainings
from attnviz.ui.learns.learning_page import learning_page


def offered() -> bool:
    """Return whether there is a training to show; without one the navigation leaves the page out."""
    return bool(trainings())


def _draw() -> None:
    open_choices()
    learning_page()


page = Page("learns", lambda: gettext("How it learns"), _draw, forget_choices)
