"""The component that tells the browser which of its requests were handled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.ui.components.loader import component


def acknowledge(handled: Mapping[str, int], memory: str, page: Mapping[str, Any]) -> None:
    """Tell each tab the number of the last request that was handled, and what the `page` has in the address; the last
    thing that a run of the page draws. `memory` tells the server from one before it."""
    record = {"handled": dict(handled), "memory": memory, "page": dict(page)}
    component("acknowledgement", isolate=False)(key="acknowledgement", data=record, height=1)
