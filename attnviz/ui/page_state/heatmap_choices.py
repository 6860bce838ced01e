"""How the heatmap of a view is drawn: what the switches below it say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from attnviz.analysis.grid import FACES, By, Face
from attnviz.palette import Colours
from attnviz.ui.page_state.view import Session, View, view_key

OPTIONS: dict[str, tuple[Any, ...]] = {
    "by": ("words", "pieces"),
    "face": FACES,
    "colours": ("paper", "cividis"),
    "root": (False, True),
    "end": (True, False),
    "margins": (False, True),
}
"""Every choice and what may be chosen, first what is drawn where nobody chose. A choice is kept by its widget's key."""
_KEPT = "heatmap_choices"


@dataclass(frozen=True)
class HeatmapChoices:
    """How the heatmap is drawn."""

    by: By = "words"
    """What rows and columns stand for."""
    colours: Colours = "paper"
    root: bool = False
    """Whether colours follow √α."""
    end: bool = True
    """Whether `</s>` is shown."""
    margins: bool = False
    face: Face = "before"
    """Before or after the word; what can be drawn of it is `ui.step.heatmap.shown_choices`."""


def heatmap_choices(session: Session, view: View, linked: Mapping[str, str] | None = None) -> HeatmapChoices:
    """Return the choices of `view`: at first those of the link, then those of its widgets.

    A widget that was not drawn in the last run, or returns what it does not offer, gets back what was chosen in it.
    """
    kept = cast("HeatmapChoices", session.get(view.key(_KEPT)) or _linked(view, linked or {}))
    for name, options in OPTIONS.items():
        value = session.get(view.key(name))
        if value is not None and value in options:
            kept = replace(kept, **{name: value})
        else:
            session[view.key(name)] = getattr(kept, name)
    session[view.key(_KEPT)] = kept
    return kept


def choices_address(view: View, choices: HeatmapChoices) -> dict[str, str | None]:
    """Return the address parameters of the choices; None for what is drawn where nobody chose."""
    written: dict[str, str | None] = {}
    for name, options in OPTIONS.items():
        value = getattr(choices, name)
        written[name] = None if value == options[0] else _written(value)
    return {view.key(name): value for name, value in written.items()}


def forget_choices(session: Session, view_id: str) -> None:
    """Forget all choices of a view: another link is to be followed."""
    for name in (*OPTIONS, _KEPT):
        session.pop(view_key(view_id, name), None)


def _linked(view: View, linked: Mapping[str, str]) -> HeatmapChoices:
    chosen = HeatmapChoices()
    for name, options in OPTIONS.items():
        for option in options:
            if linked.get(view.key(name)) == _written(option):
                chosen = replace(chosen, **{name: option})
    return chosen


def _written(option: Any) -> str:
    """Return an option as an address has it: switches as 1 and 0."""
    return str(int(option)) if isinstance(option, bool) else str(option)
