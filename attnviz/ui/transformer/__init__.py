"""The page *To the transformer*: exhibits from additive attention to the transformer.

An `Exhibit` has the functions that compute it, draw it and yield what it offers to save. `SentenceRequest` translates
the visitor's sentence by a model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attnviz.ui.payloads import Shown
from attnviz.ui.resources import translate
from attnviz.ui.toolbar.downloads import OfferedPart
from attnviz.ui.view import View


@dataclass(frozen=True)
class SentenceRequest:
    """The visitor's sentence, and the settings of its translations."""

    view: View
    """The view of the other pages."""
    device: str = "auto"
    beam: int = 5

    @property
    def sentence(self) -> str:
        """The English sentence."""
        return str(self.view.trace.source_text)

    def trace_by(self, model: str) -> Any:
        """Translate by `model`; raise AttnvizError on bad input."""
        return translate(model, self.device, self.sentence, self.beam, None)


@dataclass(frozen=True)
class Exhibit:
    """One part of the page."""

    make: Callable[[SentenceRequest], tuple[View, Shown]]
    """Returns the view of the exhibit, and what else it shows; raises AttnvizError where that cannot be computed."""
    draw: Callable[[View, Shown], None]
    """Draws what `make` has returned."""
    offered: OfferedPart
    """What it offers to save of that."""
    parameter: str = ""
    """Name of its choice that has history entries, in the session state and in the address; empty without one."""
