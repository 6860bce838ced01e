"""Choice of the growing sentence on *Why attention?*: one with a reference, the paper's, or the visitor's."""

from __future__ import annotations

from attnviz.analysis.prefixes import FIRST
from attnviz.evaluation.sentences import TABLE_3, TECHNOLOGY
from attnviz.languages import gettext
from attnviz.ui.fields import segmented_control

LONG = "long"
"""Name of the choice in session state and address: `_TECHNOLOGY`, the number of a sentence in `TABLE_3`, or `_OWN`."""
_TECHNOLOGY, _OWN = "technology", "own"
_LABEL_LENGTH = 22
"""Characters of a sentence that its label shows at most."""


def choose_sentence(visitor_sentence: str) -> str:
    """Draw the choice; return the sentence.

    `visitor_sentence` is offered only if it can grow.
    """
    offered = {_TECHNOLOGY: TECHNOLOGY} | {str(number): text for number, text in enumerate(TABLE_3, 1)}
    if len(visitor_sentence.split()) > FIRST:
        offered[_OWN] = visitor_sentence
    names = {value: gettext("Yours") if value == _OWN else _first_words(text) for value, text in offered.items()}
    chosen = segmented_control(
        gettext("The sentence that grows"),
        names,
        key=LONG,
        default=_TECHNOLOGY,
        label_visibility="collapsed",
        parameter=LONG,
    )
    return offered[chosen]


def _first_words(sentence: str) -> str:
    """Return the first words of a sentence."""
    return f"{sentence[:_LABEL_LENGTH].rsplit(' ', 1)[0]} …"
