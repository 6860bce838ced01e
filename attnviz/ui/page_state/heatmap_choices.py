"""Store the display options of a view's heatmap, in the session state and in the address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attnviz.analysis.grid import FACES, UNITS, By, Face
from attnviz.palette import COLOURS, Colours
from attnviz.ui.page_state.view import Session, View, view_key

OPTIONS: dict[str, tuple[Any, ...]] = {
    "by": UNITS,
    "face": FACES,
    "colours": COLOURS,
    "root": (False, True),
    "end": (True, False),
    "margins": (False, True),
}
"""All choices and their values, the default first. A choice is stored under the key of its field."""


@dataclass(frozen=True)
class HeatmapChoices:
    """The display options of a heatmap."""

    by: By = "words"
    """Whether rows and columns are words or pieces."""
    colours: Colours = "paper"
    root: bool = False
    """Whether colours are linear in √α instead of α."""
    end: bool = True
    """Whether `</s>` is shown."""
    margins: bool = False
    face: Face = "before"
    """Prior α, posterior α′ or their difference; `ui.step.heatmap.shown_choices` returns those that can be drawn."""


def heatmap_choices(session: Session, view: View, linked: Mapping[str, str] | None = None) -> HeatmapChoices:
    """Return the choices of `view`: at first those of the link, then those of the fields below the heatmap."""
    for name, options in OPTIONS.items():
        if session.get(view.key(name)) not in options:
            linked_value = (linked or {}).get(view.key(name))
            session[view.key(name)] = next((one for one in options if _option_text(one) == linked_value), options[0])
    return HeatmapChoices(**{name: session[view.key(name)] for name in OPTIONS})


def choices_address(view: View, choices: HeatmapChoices) -> dict[str, str | None]:
    """Return the address parameters of the choices; None for defaults."""
    parameters: dict[str, str | None] = {}
    for name, options in OPTIONS.items():
        value = getattr(choices, name)
        parameters[name] = None if value == options[0] else _option_text(value)
    return {view.key(name): value for name, value in parameters.items()}


def forget_choices(session: Session, view_id: str) -> None:
    """Clear all choices of a view, before another link is followed."""
    for name in OPTIONS:
        session.pop(view_key(view_id, name), None)


def _option_text(option: Any) -> str:
    """Return an option as text for the address: switches as 1 and 0."""
    return str(int(option)) if isinstance(option, bool) else str(option)
