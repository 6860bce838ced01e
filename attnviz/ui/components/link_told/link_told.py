"""Sentences about values of a link that cannot be, until something else is chosen in their place."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import Keyed


def link_sentences(view: Keyed, problems: Mapping[str, str]) -> None:
    """Say the sentences, each by the name of its parameter in the address."""
    component("link_told", isolate=False)(key=view.key("link_told"), data={"problems": dict(problems)})
