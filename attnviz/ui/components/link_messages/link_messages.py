"""Mount sentences about invalid values of a link, until other values are chosen."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import Keyed


def link_sentences(view: Keyed, problems: Mapping[str, str]) -> None:
    """Draw the sentences, each by the name of its address parameter."""
    component("link_messages", isolate=False)(key=view.key("link_messages"), data={"problems": dict(problems)})
