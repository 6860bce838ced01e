"""What the pictures of a step are drawn from, as it was chosen on the page."""

from __future__ import annotations

import streamlit as st

from attnviz.figures.subject import Subject
from attnviz.trace import Trace
from attnviz.ui.page_state import selection
from attnviz.ui.resources import tokenizer_of, weights_of
from attnviz.ui.step.ledger_choice import chosen_pair


def subject_of(trace: Trace, step: int) -> Subject:
    """Return 1-based `step` with the source piece, the word and its rival that are on show, and the weights where they
    are at hand."""
    source = selection.source_of(st.session_state, trace, step) - 1
    weights, tokenizer = weights_of(trace), tokenizer_of(trace)
    if tokenizer is None:
        return Subject(trace, step - 1, weights, source)
    word, rival = chosen_pair(trace, step, len(tokenizer))
    rival = word if rival is None else rival  # a piece is not held against itself
    return Subject(trace, step - 1, weights, source, word, rival, tokenizer.piece)
