"""Sentences to begin with, by what they show. tests/ui/test_examples.py holds the model to it."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.evaluation.sentences import FIGURE_3, TABLE_3
from attnviz.languages import say

OPENING = "The green house at the end of the street is very old."
"""What the page opens on: whole words, and an adjective and its noun that change places."""

FORMER_OPENING = FIGURE_3[0]
"""What the page once opened on. It was left out of its links, which still open it: those that name a step, say, but no
sentence."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "Changes of order": (OPENING, "The little black cat sleeps on the big red chair."),
    "One word becomes several": ("Where is the nearest station, please?", "I have just arrived."),
    "Names and numbers": (
        "Mr Schneider met Angela Merkel in Berlin on 14 May 2009.",
        "In 2004, Barack Obama lived in Chicago.",
    ),
    "A mistake, and why": (
        "He is sitting on the bank of the river.",
        "The agreement was signed in August. Nobody knew what it meant. The ministers went home. The journalists wrote "
        "that it was a success. The people did not care.",
        "We need flour, sugar, eggs, butter, milk, salt, yeast, lemons, almonds, raisins and a large bowl.",
    ),
    "Greedy or beam": ("I miss my brother.",),
    "From the paper, Fig. 3": FIGURE_3,
    "Long, from the paper": TABLE_3,
}
"""Sentences by what they show."""

_OF_A_TRANSLATION = frozenset({"step", "source", "word", "rival", "stage", "target"})
"""Parameters of an address that mean nothing without the sentence they were written for."""


def opening(linked: Mapping[str, str]) -> str:
    """Return the sentence of an address that names none."""
    return FORMER_OPENING if _OF_A_TRANSLATION & set(linked) else OPENING


def kind_name(kind: str) -> str:
    """Return what a kind of sentence is called on the page."""
    return {
        "Changes of order": say("Changes of order"),
        "One word becomes several": say("One word becomes several"),
        "Names and numbers": say("Names and numbers"),
        "A mistake, and why": say("A mistake, and why"),
        "Greedy or beam": say("Greedy or beam"),
        "From the paper, Fig. 3": say("From the paper, Fig. 3"),
        "Long, from the paper": say("Long, from the paper"),
    }[kind]
