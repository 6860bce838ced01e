"""The keys that move through the steps, named beside them."""

from __future__ import annotations

import streamlit as st

from attnviz.languages import say
from attnviz.ui.step.heatmap import heatmap_choices


def key_names() -> None:
    """Name the keys."""
    by, *_ = heatmap_choices()
    told = {
        "←</kbd><kbd>→": say("step"),
        "↑</kbd><kbd>↓": say("English word") if by == "words" else say("English piece"),
        f"{say('Home')}</kbd><kbd>{say('End')}": say("first, last step"),
        say("Space"): say("play, pause"),
        say("Esc"): say("let go of your choice: follow the strongest"),
        f"Ctrl</kbd><kbd>{say('Enter')}": say("translate"),
    }
    spans = "".join(f"<span><kbd>{keys}</kbd> {what}</span>" for keys, what in told.items())
    click = say("or click a cell, a word, a bar, a strip")
    st.html(f'<div class="keys">{spans}<span>{click}</span></div>')
