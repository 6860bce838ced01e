"""Find the model of a lesson's sentence among the installed ones."""

from __future__ import annotations

from pathlib import Path

from attnviz.errors import AttnvizError
from attnviz.installed_models import default_model, installed_model, installed_models
from attnviz.languages import gettext
from attnviz.lessons.lesson import LessonSentence


def folder_of_model(sentence: LessonSentence, default: Path | None = None) -> Path:
    """Return the folder of a sentence's model, or `default`; raise AttnvizError where the model is not installed."""
    if not sentence.model:
        return default or default_model()
    folder = installed_model(sentence.model)
    if folder is None:
        raise AttnvizError(
            gettext(
                "The lesson needs the model {model}, which is not installed. Installed models: {names}. Fetch it with: "
                "python -m attnviz models {model}",
                model=sentence.model,
                names=", ".join(installed_models()) or gettext("none"),
            )
        )
    return folder
