"""Receive, handle and acknowledge the browser's requests in each run of the page; draw buttons that send them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.components.loader import component
from attnviz.ui.inbox import Accepts, Handler, Request, inbox
from attnviz.ui.language import use_chosen_language

OUTBOX = "outbox"
"""Session state key of the component."""


def acknowledge(handled_by_tab: Mapping[str, int], server_id: str, page: Mapping[str, Any]) -> None:
    """Send the browser the last handled request of each tab, and the address parameters of `page`.

    Call it last in every run. `server_id` differs after a restart of the server process (`Inbox.memory`).
    """
    payload = {"handledByTab": dict(handled_by_tab), "serverId": server_id, "page": dict(page)}
    component("acknowledgement", isolate=False)(key="acknowledgement", data=payload, height=1)


def outbox() -> Any:
    """Return the state of the browser: its tab and its unacknowledged requests."""
    payload = {
        "offline": gettext(
            "No connection to the server. You can still go to another step or stage. Other pages, translations and "
            "changes wait until the connection is back."
        ),
        "page": gettext("No connection to the server. The page opens when the connection is back."),
    }
    return component("outbox", isolate=False)(
        key=OUTBOX, data=payload, default={"sent": None}, on_sent_change=lambda: None, height=1
    ).sent


def receive() -> None:
    """Receive the requests of the browser, first in every run, and run the actions of the pressed buttons."""
    box = inbox(st.session_state)
    box.queue_requests(outbox())
    box.run_actions()


def begin_fragment() -> None:
    """Begin the run of a fragment: set the language; if the message brought requests, rerun the whole page instead.

    Streamlit (1.67) puts all changes within one tick into one message, which runs only the fragment of the first
    widget, for instance that of a popover that closes.
    """
    use_chosen_language()
    message = getattr(st.session_state.get(OUTBOX), "sent", None)
    if inbox(st.session_state).new_requests(message):
        st.rerun()


def next_request() -> Request | None:
    """Return the request that is handled next, None where none waits."""
    return inbox(st.session_state).next_request()


def acknowledge_handled(first_request: Request | None, page: Mapping[str, Any]) -> None:
    """Acknowledge the handled requests and send the address parameters of `page`, last in every run.

    `first_request` was the next one when drawing began. If no part of the page has handled it, it is dropped; those
    after it get another run.
    """
    box = inbox(st.session_state)
    if first_request is not None and box.next_request() is first_request:
        box.drop(first_request)
    if box.next_request() is not None:
        st.rerun()
    acknowledge(box.handled(), box.memory, page)


def handle(handlers: Mapping[str, Handler], accepts: Accepts = lambda _: True) -> bool:
    """Handle the next queued requests if they have these names, as `Inbox.handle` does."""
    return inbox(st.session_state).handle(handlers, accepts)


def call_in_rerun(action: Callable[[], object]) -> None:
    """Rerun the page and call `action` first, since the parts that it changes may already be drawn."""
    inbox(st.session_state).actions.append(action)
    st.rerun()


def request_button(label: str, action: Callable[[], object], *, key: str, **arguments: Any) -> None:
    """Draw a button; when it was pressed, rerun the page and call `action` first.

    The browser sends the press as a request. `arguments` are those of `st.button`, whose return value is used
    only where there is no browser, as in tests.
    """
    box, clicked = inbox(st.session_state), st.button(label, key=key, **arguments)
    press = {"press": lambda _: box.actions.append(action)}
    if box.handle(press, lambda pressed: pressed == key):
        st.rerun()
    if clicked:
        call_in_rerun(action)
