"""Set the address of the page in the browser, and acknowledge the requests that the server has handled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.ui.components.loader import component


def acknowledge(handled_by_tab: Mapping[str, int], server_id: str, page: Mapping[str, Any]) -> None:
    """Send the browser the last handled request of each tab, and the address parameters of `page`.

    Call it last in every run. `server_id` differs after a restart of the server process (`Inbox.memory`).
    """
    payload = {"handledByTab": dict(handled_by_tab), "serverId": server_id, "page": dict(page)}
    component("acknowledgement", isolate=False)(key="acknowledgement", data=payload, height=1)
