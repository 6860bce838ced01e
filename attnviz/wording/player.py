"""What stands on the buttons that move through the steps, and before the two sentences."""

from __future__ import annotations

from attnviz.languages import say


def player_words() -> dict[str, str]:
    """Return the words of the player by the names its markup and program have for them."""
    return {
        "earlier": say("Previous step"), "later": say("Next step"), "english": say("English"), "french": say("French"),
        "steps": say("Steps"), "previous": say("Previous"), "next": say("Next"), "play": say("Play"),
        "pause": say("Pause"), "space": say("Space"), "speed": say("Speed"), "at": say("{i} of {n}"),
        "looks": say("Looks at"), "examined": say("Examined"), "skip": say("Skip the words, to the buttons"),
        "strongest": say("the strongest at this step"), "held": say("your choice, held"),
        "alike": say("as much as at every other piece"),
        "follow": say("follow the strongest"), "escape": say("Esc"),
    }  # fmt: skip
