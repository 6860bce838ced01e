"""Example sentences by what they show, remarks on some of their translations, and the default sentence."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.evaluation.sentences import FIGURE_3, TABLE_3
from attnviz.languages import gettext
from attnviz.trace import Trace

DEFAULT_SENTENCE = "The green house at the end of the street is very old."
"""Default sentence: whole words, and an adjective and its noun that change places."""

FORMER_DEFAULT_SENTENCE = FIGURE_3[0]
"""Default sentence of earlier versions, whose links omit it but may name, for example, a step of it."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "Changes of order": (DEFAULT_SENTENCE, "The little black cat sleeps on the big red chair.", "He is an honest man."),
    "One word, several": ("Where is the nearest station, please?", "I have just arrived."),
    "Names and numbers": (
        "Mr Schneider met Mrs Keller in Berlin on 14 May 2009.",
        "In 2004, Barack Obama lived in Chicago.",
    ),
    "Mistakes, and why": (
        "He is sitting on the bank of the river.",
        (
            "Ladies and gentlemen, the debate is closed. The vote will take place tomorrow at noon. Thank you for your "
            "attention. The sitting is adjourned. Good night. Sleep well. Good-bye."
        ),
        "I came, I saw, I laughed, I cried, I slept, I left, and then I came back again to see what was left.",
    ),
    "From the paper, Fig. 3": FIGURE_3,
    "Long": TABLE_3,
}
"""Sentences by what they show; `tests/ui/test_examples.py` checks how the model translates them."""

_TRANSLATION_PARAMETERS = frozenset({"step", "source", "word", "foil", "stage", "target", "what_ifs"})
"""Address parameters that make sense only for one sentence."""


def default_sentence(linked: Mapping[str, str]) -> str:
    """Return the sentence of an address that names none."""
    return FORMER_DEFAULT_SENTENCE if _TRANSLATION_PARAMETERS & set(linked) else DEFAULT_SENTENCE


def remark(trace: Trace) -> str:
    """Return a remark on the translation of an example, empty for any other.

    It explains a mistake that no number reveals, or suggests a change by hand.
    """
    return {
        ("He is sitting on the bank of the river.", "Il est assis sur la banque de la rivière."): gettext(
            "This translation has a mistake: a “banque” keeps money, a river has a “rive”. No number on the page "
            "reveals this mistake. Click “banque” to see where the decoder looked when it wrote this word, and "
            "which other words were likely."
        ),
        ("He is an honest man.", "C'est un homme honnête."): gettext(
            "“Un homme honnête” neither lies nor steals; “un honnête homme” was a gentleman of Molière’s time. "
            "Go to step 5. In stage 2, pull the bar of “honest” all the way to the right: the word order "
            "changes, and so does the meaning."
        ),
    }.get((trace.source_text, trace.translation), "")


def kind_name(kind: str) -> str:
    """Return the display name of a kind of sentence."""
    return {
        "Changes of order": gettext("Changes of order"),
        "One word, several": gettext("One word, several"),
        "Names and numbers": gettext("Names and numbers"),
        "Mistakes, and why": gettext("Mistakes, and why"),
        "From the paper, Fig. 3": gettext("From the paper, Fig. 3"),
        "Long": gettext("Long"),
    }[kind]
