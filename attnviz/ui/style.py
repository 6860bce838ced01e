"""How the page looks beyond what `.streamlit/config.toml` can say."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from attnviz.figures.palette import ThemeName, palette

_ASSETS = Path(__file__).parent / "assets"

ICON = str(_ASSETS / "icon.svg")
"""The browser tab's picture: a file of ours, since Streamlit fetches its named icons from afar."""


def theme_name() -> ThemeName:
    """Return the theme the visitor's browser shows."""
    return "dark" if st.context.theme.type == "dark" else "light"


def apply_style(theme: ThemeName) -> None:
    """Put the style sheet on the page, with the palette's colours as its variables."""
    ink = palette(theme)
    names = ("ink", "quiet", "line", "encoder", "decoder", "context", "minus")
    variables = "".join(f"--{name}: {getattr(ink, name)};" for name in names)
    sheet = (_ASSETS / "page.css").read_text(encoding="utf-8")
    st.html(f"<style>:root {{ {variables} }}\n{sheet}</style>")
