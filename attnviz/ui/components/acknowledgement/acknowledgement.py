"""Mount the component that acknowledges handled requests to the browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.ui.components.loader import component


def acknowledge(handled: Mapping[str, int], memory: str, page: Mapping[str, Any]) -> None:
    """Send each tab the number of its last handled request, and the address parameters of `page`; last in every run.

    `memory` identifies the server process (`Inbox.memory`).
    """
    payload = {"handled": dict(handled), "memory": memory, "page": dict(page)}
    component("acknowledgement", isolate=False)(key="acknowledgement", data=payload, height=1)
