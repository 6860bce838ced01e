"""What of a translation is on show: step, source piece, compared words, order of the rows.

The browser owns it (`components/state.js`); the server gets it with each request for something that is drawn of it.
Steps and pieces count from 0 here; in an address they count from 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from attnviz.trace import Trace
from attnviz.ui.page_state.parameters import linked_values
from attnviz.ui.page_state.view import View

_SELECTION = "selection"


@dataclass(frozen=True)
class Selection:
    """What a visitor chose in a view; None where he left it to the step."""

    step: int = 0
    source: int | None = None
    """Source piece; None: the one of the largest weight, step by step."""
    word: int | None = None
    """Id of the piece whose logit is taken apart; None: the one the step chose."""
    rival: int | None = None
    """Id of the piece it is compared with; None: the likeliest other."""
    typed_word: str = ""
    """What was typed for `word`, of which that piece may be only the first."""
    typed_rival: str = ""

    @property
    def name(self) -> str:
        """What tells it from others."""
        return json.dumps(astuple(self))


def linked_selection(view: View, linked: Mapping[str, str]) -> Selection:
    """Return the selection of an address; what it names that is not there is not chosen."""
    given = linked_values(view, linked, "browser")
    word, rival = (int(given[name]) if name in given else None for name in ("word", "rival"))
    return Selection(
        step=int(given.get("step", 1)) - 1,
        source=int(given["source"]) - 1 if "source" in given else None,
        word=word,
        rival=rival,
        typed_word="" if word is None else given.get("typed_word", ""),
        typed_rival="" if rival is None else given.get("typed_rival", ""),
    )


def with_selection(session: Mapping[Any, Any], view: View, selection: Selection) -> dict[Any, Any]:
    """Return what was chosen on the page, with the `selection` that something is to be drawn of."""
    return {**session, view.key(_SELECTION): selection}


def selection_of(session: Mapping[Any, Any], view: View) -> Selection:
    """Return the selection of `with_selection`; the first step where there is none."""
    found: Selection = session.get(view.key(_SELECTION), Selection())
    return found


def source_of(selection: Selection, trace: Trace) -> int:
    """Return the source piece on show: the chosen one, or that of the largest weight."""
    return int(np.argmax(trace.alignment[selection.step])) if selection.source is None else selection.source
