"""Collect the inputs of a step's figures: the current selection, the model's weights and posterior attention."""

from __future__ import annotations

from attnviz.figures.figure_input import Subject
from attnviz.ui.page_state.linked import Session
from attnviz.ui.page_state.selection import selection_of, source_of
from attnviz.ui.resources import posterior_attention_of, tokenizer_of, weights_of
from attnviz.ui.step.attributed_word import chosen_word_and_foil
from attnviz.ui.view import View


def subject_of(view: View, session: Session) -> Subject:
    """Return the current step with its source piece, word and foil, and the weights if the model is installed."""
    trace, selection = view.trace, selection_of(session, view)
    source = source_of(selection, trace)
    weights, tokenizer, posterior = weights_of(trace), tokenizer_of(trace), posterior_attention_of(trace)
    if tokenizer is None:
        return Subject(trace, selection.step, weights, source, known_posterior=posterior, parent=view.parent)
    word, foil = chosen_word_and_foil(trace, selection, len(tokenizer))
    foil = word if foil is None else foil  # a piece is not compared with itself
    return Subject(
        trace,
        selection.step,
        weights,
        source,
        word,
        foil,
        tokenizer.piece,
        parent=view.parent,
        known_posterior=posterior,
    )
