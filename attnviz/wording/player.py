"""Labels of the step player."""

from __future__ import annotations

from attnviz.languages import gettext


def player_words() -> dict[str, str]:
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
        "skip": gettext("Skip the words, to the buttons"),
        "strongest": gettext("the strongest at this step"),
        "held": gettext("your choice, held"),
        "alike": gettext("as much as at every other piece"),
        "follow": gettext("follow the strongest"),
        "escape": gettext("Esc"),
    }
