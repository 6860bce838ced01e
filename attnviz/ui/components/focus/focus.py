"""The program that keeps the focus where a visitor's keyboard expects it when boxes open and close."""

from __future__ import annotations

from attnviz.ui.components.loader import component


def mind_focus() -> None:
    """Bring the program to the page, where it minds all popovers."""
    component("focus", isolate=False)(key="focus", height=1)
