"""What moves through the moments of a training: buttons, a slider, and what is said of the moment on show.

It stands in a view of its own, whose charts take a moment for a step.
"""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.languages import gettext, language
from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import Keyed


def timeline(
    room: Keyed,
    identity: str,
    updates: Sequence[int],
    told: Sequence[str],
    ends: tuple[str, str],
    opened: int | None,
) -> None:
    """Draw the timeline of the moments after so many `updates`, of each of which `told` says how good the model is.

    It opens at the moment `opened`, the last where that is None; `identity` tells these runs from others. The browser
    writes the update on show into the address.
    """
    words = {
        "moments": gettext("Moments of the training"),
        "moment": gettext("Moment"),
        "previous": gettext("Earlier"),
        "next": gettext("Later"),
        "play": gettext("Play"),
        "pause": gettext("Pause"),
        "space": gettext("Space"),
        "speed": gettext("Speed"),
    }
    record = {
        "identity": identity,
        "language": language(),
        "updates": list(updates),
        "told": list(told),
        "ends": list(ends),
        "opened": opened,
        "words": words,
    }
    component("timeline")(key=room.key("timeline"), data=record)
