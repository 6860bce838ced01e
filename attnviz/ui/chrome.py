"""What stands around every page: its title, the language, and the way to the other pages."""

from __future__ import annotations

import streamlit as st

from attnviz.languages import say
from attnviz.ui.language import language_switch


def masthead() -> None:
    """Draw the title and the choice of language."""
    about = say(
        "A recurrent translator with additive attention, opened up: which English words each French word looked at, "
        "and how that look was computed."
    )
    with st.container(horizontal=True, key="masthead"):
        st.html(f'<div class="masthead"><h1 class="title">attnviz</h1><span class="about">{about}</span></div>')
        language_switch()
