"""How the page looks beyond what `.streamlit/config.toml` can say."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from attnviz.browser_programs import serif_style
from attnviz.figures.browser import shares_style
from attnviz.palette import ThemeName
from attnviz.ui.components.focus.focus import mind_focus
from attnviz.ui.components.theme.theme import follow_theme

_FOLDER = Path(__file__).parent
ICON = str(_FOLDER / "icon.svg")
"""The browser tab's picture: a file of ours, since Streamlit fetches its named icons from afar."""


def theme_name() -> ThemeName:
    """Return the theme the visitor's browser shows."""
    return "dark" if st.context.theme.type == "dark" else "light"


def apply_style(theme: ThemeName) -> None:
    """Put the style sheet on the page; once the browser shows another theme than `theme`, run the page again.

    Figures carry their colours and have to be drawn again; the style sheet takes the browser's live ones.
    """
    own = (_FOLDER / "page.css").read_text(encoding="utf-8")
    st.html(f"<style>{serif_style()}{shares_style()}\n{own}</style>")
    mind_focus()
    follow_theme(theme)
