"""The current selection in a view: step, source piece, word and foil of the logit attribution, and display options.

The browser owns it (`components/state.js`) and sends it with each request for a payload that depends on it. Steps and
pieces count from 0 here, from 1 in an address.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, fields
from typing import Any

import numpy as np

from attnviz.analysis.grid import By, Face
from attnviz.palette import DEFAULT_COLOURS, Colours
from attnviz.trace import Trace
from attnviz.ui.page_state.parameters import browser_values
from attnviz.ui.view import View

_SELECTION = "selection"


@dataclass(frozen=True)
class HeatmapChoices:
    """The display options of a heatmap."""

    by: By = "words"
    """Whether rows and columns are words or pieces."""
    colours: Colours = DEFAULT_COLOURS
    root: bool = False
    """Whether colours are linear in √α instead of α."""
    end: bool = True
    """Whether `</s>` is shown."""
    margins: bool = False
    face: Face = "before"
    """Prior α, posterior α′ or their difference; `ui.step.heatmap.shown_choices` returns those that can be drawn."""


@dataclass(frozen=True)
class Selection:
    """A visitor's selection in a view; None for the default of the step."""

    step: int = 0
    source: int | None = None
    """Source piece; None for the one with the largest weight at each step."""
    word: int | None = None
    """Id of the piece whose logit is attributed; None for the written one."""
    foil: int | None = None
    """Id of the foil, the piece it is compared with; None for the likeliest other one."""
    typed_word: str = ""
    """Text typed by the visitor, whose first piece is `word`."""
    typed_foil: str = ""
    choices: HeatmapChoices = field(default_factory=HeatmapChoices)

    @property
    def name(self) -> str:
        """Name that differs for each selection."""
        return json.dumps(astuple(self))


def linked_selection(view: View, linked: Mapping[str, str]) -> Selection:
    """Return the selection of an address; invalid values are ignored."""
    values = browser_values(view, linked)
    options: dict[str, Any] = {
        option.name: values[option.name] == "1" if isinstance(option.default, bool) else values[option.name]
        for option in fields(HeatmapChoices)
        if option.name in values
    }
    word, foil = (int(values[name]) if name in values else None for name in ("word", "foil"))
    return Selection(
        step=int(values["step"]) - 1 if "step" in values else view.first_step,
        source=int(values["source"]) - 1 if "source" in values else None,
        word=word,
        foil=foil,
        typed_word="" if word is None else values.get("typed_word", ""),
        typed_foil="" if foil is None else values.get("typed_foil", ""),
        choices=HeatmapChoices(**options),
    )


def with_selection(session: Mapping[Any, Any], view: View, selection: Selection) -> dict[Any, Any]:
    """Return a copy of the session state with `selection`, for functions that draw from a session state."""
    return {**session, view.key(_SELECTION): selection}


def selection_of(session: Mapping[Any, Any], view: View) -> Selection:
    """Return the selection set by `with_selection`; the first step where there is none."""
    selection: Selection = session.get(view.key(_SELECTION), Selection())
    return selection


def source_of(selection: Selection, trace: Trace) -> int:
    """Return the current source piece: the chosen one, or the one with the largest weight."""
    return int(np.argmax(trace.alignment[selection.step])) if selection.source is None else selection.source
