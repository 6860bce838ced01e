"""Labels of the step player, which moves through the steps of a translation."""

from __future__ import annotations

from attnviz.languages import gettext


def player_labels() -> dict[str, str]:
    """Return the labels by their names in the player's markup and script."""
    return {
        "earlier": gettext("Previous step"),
        "later": gettext("Next step"),
        "english": gettext("English"),
        "french": gettext("French"),
        "steps": gettext("Steps"),
        "previous": gettext("Previous"),
        "next": gettext("Next"),
        "play": gettext("Play"),
        "pause": gettext("Pause"),
        "space": gettext("Space"),
        "speed": gettext("Speed"),
        "slider": gettext("Step"),
        "step": gettext("step {step} of {count}"),
        "at": gettext("{i} of {n}"),
        "looks": gettext("Looks at"),
        "examined": gettext("Examined"),
        "strongest": gettext("the largest weight at this step"),
        "held": gettext("your choice, fixed"),
        "alike": gettext("all weights equal"),
        "follow": gettext("follow the largest weight"),
        "escape": gettext("Esc"),
    }
