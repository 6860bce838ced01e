"""Define the exhibits of the page *To the transformer*, and the models that they use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.page_state.view import View
from attnviz.ui.resources import models, translate
from attnviz.ui.shared_payloads import register_trace
from attnviz.ui.toolbar.downloads import Picture

FIXED, DOT, ADDITIVE, TRANSFORMER, LARGE = (
    "small-fixed",
    "small-dot",
    "small-additive",
    "small-transformer",
    "en-fr",
)
"""Names of the models' folders."""


@dataclass(frozen=True)
class SentenceRequest:
    """The visitor's sentence, and how it is translated."""

    view: View
    """The view of the other pages."""
    device: str
    beam: int

    @property
    def sentence(self) -> str:
        """The English sentence."""
        return str(self.view.trace.source_text)

    def translated(self, model: str, target: str | tuple[int, ...] | None = None) -> Any:
        """Return the trace of `model`, force-decoded with `target` if any; raise AttnvizError on bad input."""
        trace = translate(str(models()[model]), self.device, self.sentence, self.beam, target)
        return register_trace(trace)


@dataclass(frozen=True)
class ExhibitSelection:
    """The current selection in an exhibit, counted from 0."""

    step: int
    source: int
    swap: tuple[int, int] | None
    """Indices of the two swapped words, if any."""


@dataclass(frozen=True)
class Exhibit:
    """One step of the comparison, called a rung on the page. No exhibit imports another."""

    open: Callable[[SentenceRequest], View]
    """Computes the exhibit and returns its view; raises AttnvizError with a sentence where it cannot."""
    panel: Callable[[View, SentenceRequest, ThemeName], None]
    """Draws the exhibit."""
    pictures: Callable[[View, SentenceRequest, ExhibitSelection, ThemeName], Iterator[Picture]]
    """Yields the current figures with their tables, to be saved; also called outside a run of the page."""
    view_id: str
    """Id of the exhibit's view."""
    tables: Callable[[View, SentenceRequest], Iterator[tuple[str, pd.DataFrame]]] | None = None
    """Yields tables that belong to no figure."""


def missing_models_reason(*names: str) -> str:
    """Return which of these models are not installed, as a sentence; empty where all are."""
    absent = [name for name in names if name not in models()]
    if not absent:
        return ""
    return gettext(
        "This part of the page needs the models {names}. Not installed: {absent}. attnviz supplies them in its "
        "folder models; copy or link them next to your own models.",
        names=", ".join(names),
        absent=", ".join(absent),
    )
