"""Mount messages about invalid parameters of a link, each until another value is chosen."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.components.loader import component


def link_messages(problems: Mapping[str, tuple[str, str]]) -> None:
    """Draw the messages; `problems` maps the name of an address parameter to its value and its message."""
    component("link_messages", isolate=False)(key="link_messages", data={"problems": dict(problems)})
