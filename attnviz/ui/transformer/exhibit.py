"""Types of an exhibit (a part of the page *To the transformer*) and of its input; names of the page's models.

An `Exhibit` has the functions that compute its view, draw it and yield its figures and tables. `SentenceRequest`
translates the visitor's sentence by a model; a message names the models that are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from attnviz import lazy_pandas as pd
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.ui.payloads import PayloadRequest
from attnviz.ui.resources import translate
from attnviz.ui.toolbar.downloads import OfferedFigure
from attnviz.ui.view import View

FIXED_CONTEXT_MODEL, GENERAL_MODEL, ADDITIVE_MODEL, TRANSFORMER_MODEL, LARGE_MODEL = (
    "small-fixed",
    "small-dot",
    "small-additive",
    "small-transformer",
    "en-fr",
)
"""Names of the model folders: fixed context vector, general attention, additive attention, transformer, large model."""


@dataclass(frozen=True)
class SentenceRequest:
    """The visitor's sentence, and the settings of its translations."""

    view: View
    """The view of the other pages."""
    device: str
    beam: int

    @property
    def sentence(self) -> str:
        """The English sentence."""
        return str(self.view.trace.source_text)

    def trace_by(self, model: str, target: str | tuple[int, ...] | None = None) -> Any:
        """Translate by `model`, force-decoded with `target` if any; raise AttnvizError on bad input."""
        return translate(str(installed_models()[model]), self.device, self.sentence, self.beam, target)


@dataclass(frozen=True)
class Exhibit:
    """One part of the page. No exhibit imports another."""

    make_view: Callable[[SentenceRequest], View]
    """Computes the exhibit's trace and returns its view; raises AttnvizError with a sentence if that is impossible."""
    draw: Callable[[View, SentenceRequest], None]
    """Draws the exhibit, which `make_view` has computed."""
    pictures: Callable[[PayloadRequest], Iterator[OfferedFigure]]
    """Yields the current figures and their tables for downloads.

    What is shown is the `view`, the `request` and the `swap` of two words of the English sentence, if any.
    """
    view_id: str
    """Id of the exhibit's view."""
    tables: Callable[[PayloadRequest], Iterator[tuple[str, pd.DataFrame]]] = lambda _: iter(())
    """Yields the tables that belong to no figure, each with its name."""


def missing_exhibit_models(*names: str) -> str:
    """Return which of these models are not installed, as a sentence; empty where all are."""
    absent = [name for name in names if name not in installed_models()]
    if not absent:
        return ""
    return gettext(
        "This part of the page needs the models {names}. Models not installed: {absent}. attnviz supplies the missing "
        "models in its folder “models”: copy or symlink them into the folder of your own models.",
        names=", ".join(names),
        absent=", ".join(absent),
    )
