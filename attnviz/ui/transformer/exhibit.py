"""What an exhibit of the page *To the transformer* is, and what the exhibits need to know of the models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.page_state.view import View
from attnviz.ui.records import on_show
from attnviz.ui.resources import models, translate
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
class Asked:
    """What the visitor has on show: his sentence, and how it is to be translated."""

    view: View
    """That of the other pages."""
    device: str
    beam: int

    @property
    def sentence(self) -> str:
        """The English sentence."""
        return str(self.view.trace.source_text)

    def translated(self, model: str, target: str | tuple[int, ...] | None = None) -> Any:
        """Return what `model` makes of the sentence, or of a `target` that it is led through; raise AttnvizError on bad
        input."""
        trace = translate(str(models()[model]), self.device, self.sentence, self.beam, target)
        return on_show(trace)


@dataclass(frozen=True)
class Chosen:
    """What of an exhibit is on show, all counts from 0."""

    step: int
    source: int
    swap: tuple[int, int] | None
    """The places of the two words that have changed places, if any."""


@dataclass(frozen=True)
class Exhibit:
    """A rung of the ladder. No exhibit imports another."""

    open: Callable[[Asked], View]
    """Makes what it shows, and returns the view of it; raises AttnvizError with a sentence that says why not."""
    panel: Callable[[View, Asked, ThemeName], None]
    """Draws it."""
    pictures: Callable[[View, Asked, Chosen, ThemeName], Iterator[Picture]]
    """Yields its pictures as they are on show, to be saved, each with its numbers; outside a run of the page, too."""
    view_id: str
    """That of its view."""
    tables: Callable[[View, Asked], Iterator[tuple[str, pd.DataFrame]]] | None = None
    """Yields numbers that are in no picture."""


def missing(*names: str) -> str:
    """Return which of these models are not here, in a sentence; nothing where all are."""
    absent = [name for name in names if name not in models()]
    if not absent:
        return ""
    return gettext(
        "This needs the models {names}. Not among the models here: {absent}. They come with attnviz, in its "
        "folder models; copy or link them beside yours.",
        names=", ".join(names),
        absent=", ".join(absent),
    )
