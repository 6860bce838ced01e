"""The keys that move through the steps, named beside them."""

from __future__ import annotations

import streamlit as st

from attnviz.analysis.grid import By
from attnviz.languages import say
from attnviz.trace import Attention
from attnviz.ui.page_state.heatmap_choices import heatmap_choices
from attnviz.ui.page_state.view import View
from attnviz.ui.resources import knows_after


def _column(view: View, by: By) -> str:
    """Return what a column of the heatmap is."""
    if isinstance(view.trace, Attention):
        return say("source word") if by == "words" else say("source piece")
    return say("English word") if by == "words" else say("English piece")


def key_names(view: View, *, stepping_only: bool = False) -> None:
    """Name the keys, or of those only what steps: what else they do is on the first page."""
    by = heatmap_choices(st.session_state, view).by
    told = {
        "←</kbd><kbd>→": say("step"),
        "↑</kbd><kbd>↓": _column(view, by),
        f"{say('Home')}</kbd><kbd>{say('End')}": say("first, last step"),
        "B": say("before, after the word, difference"),
        say("Space"): say("play, pause"),
        say("Esc"): say("let go of your choice: follow the strongest"),
        f"Ctrl</kbd><kbd>{say('Enter')}": say("translate"),
        "L": say("lecture mode, for a projector"),
    }
    if not view.trace.attends:
        told.pop("↑</kbd><kbd>↓")
        told.pop(say("Esc"))
    if stepping_only or not knows_after(view.trace):
        told.pop("B")
    if stepping_only:
        told.pop(f"Ctrl</kbd><kbd>{say('Enter')}")
    spans = "".join(f"<span><kbd>{keys}</kbd> {what}</span>" for keys, what in told.items())
    click = say("or click a cell, a word, a bar, a strip") if view.trace.attends else say("or click a French word")
    st.html(f'<div class="keys">{spans}<span>{click}</span></div>')
