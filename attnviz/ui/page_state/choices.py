"""Store a view's choices between listed values: how its heatmap is drawn, and whether a section is open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attnviz.analysis.grid import FACES, UNITS, By, Face
from attnviz.palette import COLOURS, Colours
from attnviz.ui.page_state.view import Session, View, view_key

POSTERIOR_OPEN = "after_word"
"""Name of the choice whether the section on posterior attention is open."""
OPTIONS: dict[str, tuple[Any, ...]] = {
    "by": UNITS,
    "face": FACES,
    "colours": COLOURS,
    "root": (False, True),
    "end": (True, False),
    "margins": (False, True),
    POSTERIOR_OPEN: (False, True),
}
"""Values of each choice, the default first. The name is the session state key and the address parameter."""


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


def open_choices(session: Session, view: View, linked: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the choices of `view`: those that the visitor made, at first those of the link, else the defaults."""
    for name, options in OPTIONS.items():
        if session.get(view.key(name)) not in options:
            text = (linked or {}).get(view.key(name))
            session[view.key(name)] = next((one for one in options if option_text(one) == text), options[0])
    return {name: session[view.key(name)] for name in OPTIONS}


def heatmap_choices(session: Session, view: View) -> HeatmapChoices:
    """Return how the heatmap of `view` is drawn."""
    chosen = open_choices(session, view)
    del chosen[POSTERIOR_OPEN]
    return HeatmapChoices(**chosen)


def shows_posterior(session: Session, view: View) -> bool:
    """Return whether the section of `view` on posterior attention is open."""
    return bool(open_choices(session, view)[POSTERIOR_OPEN])


def choices_address(session: Session, view: View) -> dict[str, str | None]:
    """Return the address parameters of the choices; None for defaults."""
    return {
        view.key(name): None if value == OPTIONS[name][0] else option_text(value)
        for name, value in open_choices(session, view).items()
    }


def forget_choices(session: Session, view_id: str) -> None:
    """Clear all choices of a view, before another link is followed."""
    for name in OPTIONS:
        session.pop(view_key(view_id, name), None)


def option_text(option: Any) -> str:
    """Return an option as text for the address: switches as 1 and 0."""
    return str(int(option)) if isinstance(option, bool) else str(option)
