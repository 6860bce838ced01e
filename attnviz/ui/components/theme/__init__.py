"""Mount the script that sets the page's colours and language, and reruns when the visitor changes the theme."""

from __future__ import annotations

from attnviz.languages import language
from attnviz.palette import ThemeName, palette
from attnviz.ui.components.loader import component


def follow_theme(theme: ThemeName) -> None:
    """Set colours and language of the page; when the browser's theme differs from `theme`, rerun the page."""
    payload = {"background": palette(theme).paper, "language": language()}
    component("theme", isolate=False)(key="theme", data=payload, height=1, on_changed_change=lambda: None)
