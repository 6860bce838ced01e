"""What the pictures of a step are drawn from, as it was chosen in a view."""

from __future__ import annotations

from attnviz.figures.subject import Subject
from attnviz.ui.page_state.selection import selection_of, source_of
from attnviz.ui.page_state.view import Session, View
from attnviz.ui.resources import after_word_of, tokenizer_of, weights_of
from attnviz.ui.step.ledger_choice import chosen_pair


def subject_of(view: View, session: Session) -> Subject:
    """Return the step on show with its source piece, word and rival, and the weights where they are at hand."""
    trace, selection = view.trace, selection_of(session, view)
    source = source_of(selection, trace)
    weights, tokenizer, after = weights_of(trace), tokenizer_of(trace), after_word_of(trace)
    if tokenizer is None:
        return Subject(trace, selection.step, weights, source, known_after=after, parent=view.parent)
    word, rival = chosen_pair(trace, selection, len(tokenizer))
    rival = word if rival is None else rival  # a piece is not held against itself
    return Subject(
        trace, selection.step, weights, source, word, rival, tokenizer.piece, parent=view.parent, known_after=after
    )
