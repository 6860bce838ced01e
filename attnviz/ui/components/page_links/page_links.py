"""The program that has a link to another page wait for what was typed on this one: see its JavaScript."""

from __future__ import annotations

from attnviz.ui.components.loader import component


def page_links_wait() -> None:
    """Have the links to other pages wait until the server has heard what was typed."""
    component("page_links", isolate=False)(key="page_links", height=1)
