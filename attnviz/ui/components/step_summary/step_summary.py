"""The step on show in short: what it wrote, and the outcome of each of its stages."""

from __future__ import annotations

import streamlit as st

from attnviz.languages import say
from attnviz.trace import Trace
from attnviz.ui.components.loader import component
from attnviz.ui.page_state import selection
from attnviz.wording import narration
from attnviz.wording.labels import quote, shorten
from attnviz.wording.narration import Narration


def step_summary(trace: Trace, words: Narration) -> None:
    """Draw the step in short: what it wrote, and the outcome of each of its stages."""
    count = len(trace.target_pieces)
    record = {
        "stages": [{"number": told.number, "title": told.title} for told in next(iter(words.values()))],
        "steps": {
            str(i): {
                "heading": say("Step {i} of {n}", i=i, n=count),
                "part": _part(trace, i),
                "sentence": step_sentence(trace, i),
                "outcomes": [told.outcome for told in stages],
            }
            for i, stages in words.items()
        },
        "stage": st.session_state.get(selection.STAGE),
    }
    component("step_summary", isolate=False)(key="facts", data=record)


def _part(trace: Trace, step: int) -> str:
    """Return which piece of which word 1-based `step` wrote; nothing of a word of one piece."""
    words = trace.words()
    for word, group in zip(words.target, words.target_groups, strict=True):
        if step - 1 in group and len(group) > 1:
            k = group.index(step - 1) + 1
            return say("piece {k} of {n} of the word {word}", k=k, n=len(group), word=quote(shorten(word, 30)))
    return ""


def step_sentence(trace: Trace, step: int) -> str:
    """Return what happened at 1-based `step`, as plain text."""
    return narration.step_sentence(trace, step - 1, say("a blank"))
