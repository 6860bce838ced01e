"""Sentences to begin with."""

from __future__ import annotations

from attnviz.evaluation.sentences import FIGURE_3
from attnviz.languages import say

OPENING = FIGURE_3[0]
"""What the page opens on, the first sentence of the paper's Fig. 3."""

_LONG_TALE = (
    "When I was a child, my grandmother used to tell me stories about the sea, and every summer we went to the beach "
    "together to look for the shells that she had described."
)
_LONG_SPEECH = (
    "Mr President, I would like to thank the Commission for its proposal, which we have read with great interest, but "
    "I must also say that the Member States still do not agree on the most important question."
)

EXAMPLES: dict[str, tuple[str, ...]] = {
    "From the paper, Fig. 3": FIGURE_3,
    "Everyday": (
        "I don't know where my keys are.",
        "Could you tell me how to get to the station?",
        "She gave her little brother the last piece of cake.",
        "We have not seen each other for ten years.",
    ),
    "Captions": (
        "A girl is riding a red bicycle.",
        "Two men in blue shirts are playing guitar on a busy street.",
        "A small white dog runs through the tall grass with a ball in its mouth.",
    ),
    "Long": (_LONG_TALE, _LONG_SPEECH),
}
"""Sentences by kind."""


def kind_name(kind: str) -> str:
    """Return what a kind of sentence is called on the page."""
    return {
        "From the paper, Fig. 3": say("From the paper, Fig. 3"),
        "Everyday": say("Everyday"),
        "Captions": say("Captions"),
        "Long": say("Long"),
    }[kind]
