"""Mount the controls of a training run's checkpoints: buttons, a slider, and a sentence about the current one.

It has a view of its own, whose charts treat a checkpoint as a step.
"""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.languages import gettext, language
from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import Keyed


def timeline(
    view: Keyed,
    identity: str,
    updates: Sequence[int],
    captions: Sequence[str],
    ends: tuple[str, str],
    opened: int | None,
) -> None:
    """Draw the timeline of the checkpoints after so many `updates`; `captions` has the model's quality at each.

    It opens at the checkpoint `opened`, the last where that is None; `identity` distinguishes these runs from others.
    The browser writes the current update into the address.
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
    payload = {
        "identity": identity,
        "language": language(),
        "updates": list(updates),
        "captions": list(captions),
        "ends": list(ends),
        "opened": opened,
        "words": words,
    }
    component("timeline")(key=view.key("timeline"), data=payload)
