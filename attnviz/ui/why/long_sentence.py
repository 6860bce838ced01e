"""Choice of the growing sentence on *Why attention?*: from Bahdanau et al. 2014, or the visitor's own."""

from __future__ import annotations

from attnviz.analysis.clauses import clauses
from attnviz.evaluation.sentences import TABLE_3
from attnviz.languages import gettext
from attnviz.ui.fields import segmented_control

LONG = "long"
"""Name of the choice in session state and address: the number of a sentence in `TABLE_3`, from 1, or `_OWN`."""
_OWN = "own"
_LABEL_LENGTH = 22
"""Characters of a sentence that its label shows at most."""


def choose_long_sentence(visitor_sentence: str) -> str:
    """Draw the choice; return the sentence.

    `visitor_sentence` is offered only if it has several clauses.
    """
    offered = {str(number): sentence for number, sentence in enumerate(TABLE_3, 1)}
    if len(clauses(visitor_sentence)) > 1:
        offered[_OWN] = visitor_sentence
    names = {
        value: gettext("Yours") if value == _OWN else _first_words(sentence) for value, sentence in offered.items()
    }
    chosen = segmented_control(
        gettext("The sentence that grows"),
        names,
        key=LONG,
        default=next(iter(offered)),
        label_visibility="collapsed",
        parameter=LONG,
    )
    return offered[chosen]


def _first_words(sentence: str) -> str:
    """Return the first words of a sentence."""
    return f"{sentence[:_LABEL_LENGTH].rsplit(' ', 1)[0]} …"
