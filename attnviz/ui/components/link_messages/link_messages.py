"""Mount messages about invalid parameters of a link, each until another value is chosen."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import Keyed


def link_sentences(view: Keyed, problems: Mapping[str, str]) -> None:
    """Draw the messages; `problems` maps the name of an address parameter to its message."""
    component("link_messages", isolate=False)(key=view.key("link_messages"), data={"problems": dict(problems)})
