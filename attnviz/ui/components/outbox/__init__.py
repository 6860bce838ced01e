"""Mount the browser's queue of requests, and return those that the server has not acknowledged."""

from __future__ import annotations

from typing import Any

from attnviz.languages import gettext
from attnviz.ui.components.loader import component

OUTBOX = "outbox"
"""Session state key of the component."""


def outbox() -> Any:
    """Return the state of the browser: its tab and its unacknowledged requests."""
    payload = {
        "offline": gettext(
            "No connection to the server. You can still move to another step; your other requests are sent when "
            "the connection is back."
        )
    }
    return component("outbox", isolate=False)(
        key=OUTBOX, data=payload, default={"sent": None}, on_sent_change=lambda: None, height=1
    ).sent
