"""A view's choices between listed values: how its heatmap is drawn, and whether a section is open.

The browser owns them (`components/state.js`), as it does the rest of the selection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from attnviz.analysis.grid import FACES, UNITS, By, Face
from attnviz.palette import COLOURS, Colours

OFF_ON, ON_OFF = ("0", "1"), ("1", "0")
"""Values of switches, the default first."""
POSTERIOR_OPEN = "after_word"
"""Name of the choice whether the section on posterior attention is open."""
OPTIONS: dict[str, tuple[str, ...]] = {
    "by": UNITS,
    "face": FACES,
    "colours": COLOURS,
    "root": OFF_ON,
    "end": ON_OFF,
    "margins": OFF_ON,
    POSTERIOR_OPEN: OFF_ON,
}
"""Values of each choice, the default first. The name is the address parameter."""


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


def heatmap_choices(values: Mapping[str, str]) -> HeatmapChoices:
    """Return the display options for the `values` of an address by name; missing and unknown ones are the defaults."""
    chosen: dict[str, Any] = {
        name: value if (value := values.get(name)) in options else options[0] for name, options in OPTIONS.items()
    }
    return HeatmapChoices(
        by=cast("By", chosen["by"]),
        colours=cast("Colours", chosen["colours"]),
        root=chosen["root"] == "1",
        end=chosen["end"] == "1",
        margins=chosen["margins"] == "1",
        face=cast("Face", chosen["face"]),
    )
