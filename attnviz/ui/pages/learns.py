"""Entry point of the page *How it learns*: attention and quality at checkpoints of a training run."""

from __future__ import annotations

from attnviz.languages import gettext
from attnviz.ui.chrome import Page
from attnviz.ui.learns.learning_choices import trainings
from attnviz.ui.learns.learning_page import learning_page


def offered() -> bool:
    """Return whether there is a training to show; without one the navigation leaves the page out."""
    return bool(trainings())


def _draw() -> None:
    learning_page()


page = Page("learns", lambda: gettext("How it learns"), _draw)
