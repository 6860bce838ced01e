"""Queue the browser's requests (clicks, keys, changed fields), handle each once, in order; buttons that send them.

Streamlit drops triggers and callbacks of a run that a later message stops (streamlit #9100, #14710), but sends
component state with every message. A request stays in that state until it is handled.

The runs of a session never overlap, since `runner.fastReruns` is off.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeGuard

from attnviz import lazy_streamlit as st
from attnviz.languages import gettexts
from attnviz.lru_cache import begin_run
from attnviz.ui.components.component import component, in_view
from attnviz.ui.embedding import page_session
from attnviz.ui.page_state.inputs import use_chosen_language

_INBOX = "inbox"
RESUME = "resume"
"""Key of the request to follow the address, which the browser sends when it is connected again."""
_MOST = 1000
"""Largest number of requests that are read from a message and queued."""

Handler = Callable[[Any], object]
"""Handles a request with this value."""


class BrowserRequest(NamedTuple):
    """A request of a browser."""

    tab: str
    seq: int
    """Sequence number in the tab, from 1."""
    key: str
    """That of the control which the visitor used."""
    value: Any


@dataclass
class Inbox:
    """The requests of a session.

    It is one mutable object in the session state: changing it does not access `st.session_state`, where Streamlit may
    stop a run.
    """

    memory: str = field(default_factory=lambda: secrets.token_hex(8))
    """Random id that differs after a restart of the server, which loses all state."""
    received: dict[str, int] = field(default_factory=dict)
    """By tab, the number of the last request received."""
    waiting: list[BrowserRequest] = field(default_factory=list)
    """Requests that are not handled yet, in order."""
    query: str | None = None
    """The query of the browser's address as it sent its last requests; None where none of them waits."""
    controls: dict[str, Handler] = field(default_factory=dict)
    """By the keys of the controls that were drawn last, what handles a value."""
    actions: list[Callable[[], object]] = field(default_factory=list)
    """What the next run calls before it draws anything."""

    def new_requests(self, message: Any) -> list[BrowserRequest]:
        """Return the requests in a browser's `message`, which may be anything, that are not queued yet.

        Requests to a previous server process are ignored.
        """
        requests: list[BrowserRequest] = []
        if not isinstance(message, Mapping) or message.get("memory") not in (None, "", self.memory):
            return requests
        tab, items = message.get("tab"), message.get("requests")
        if not isinstance(tab, str) or len(tab) > 64 or not isinstance(items, list | tuple):
            return requests
        last = self.received.get(tab, 0)
        for item in items[:_MOST]:
            seq, key = (item.get("seq"), item.get("key")) if isinstance(item, Mapping) else (None, None)
            if _is_count(seq) and isinstance(key, str) and seq > last:
                last = int(seq)
                requests.append(BrowserRequest(tab, last, key, item.get("value")))
        return requests

    def handle(self, message: Any, controls: Mapping[str, Handler]) -> None:
        """Queue the new requests in a browser's `message`, and handle the queued ones, up to the first of no control.

        That to resume a session comes first, since the others were made in that session. The controls are those drawn
        last and further `controls`. A request stays in the queue if its run is stopped before it is handled.
        """
        requests = self.new_requests(message)
        if requests or not self.waiting:
            self.query = str(message.get("query", "")).removeprefix("?") if requests else None
        for request in requests:
            self.received[request.tab] = request.seq
        self.waiting += sorted(requests, key=lambda request: request.key != RESUME)
        del self.waiting[:-_MOST]
        while self.actions:
            self.actions[0]()
            del self.actions[0]
        self.controls |= controls
        while self.waiting and (act := self.controls.get(self.waiting[0].key)):
            act(self.waiting[0].value)
            del self.waiting[0]
        self.controls = {}

    def handled(self) -> dict[str, int]:
        """Return, by tab, the number of the last request that was handled or dropped."""
        numbers = dict(self.received)
        for request in self.waiting:
            numbers[request.tab] = min(numbers[request.tab], request.seq - 1)
        return numbers


def _is_count(number: Any) -> TypeGuard[float]:
    """Return whether a value from the browser is a valid sequence number."""
    return isinstance(number, int | float) and 0 <= number < 2**53


def inbox() -> Inbox:
    """Return the inbox of the session."""
    session = page_session()
    if _INBOX not in session:
        session[_INBOX] = Inbox()
    box: Inbox = session[_INBOX]
    return box


OUTBOX = "outbox"
"""Session state key of the component."""


def begin_page(controls: Mapping[str, Handler]) -> None:
    """Begin a run: receive the requests of the browser, and handle those of the page's own `controls`, or drawn last.

    What the last run left to this one is called first.
    """
    begin_run()
    payload = gettexts(
        {
            "offline": "No connection to the server. You can still go to another step or stage. Other pages, "
            "translations and changes wait until the connection is back.",
            "page": "No connection to the server. The page opens when the connection is back.",
        }
    )
    state = component("outbox", OUTBOX, payload, default={"sent": None}, on_sent_change=lambda: None, height=1)
    inbox().handle(state.sent, controls)


def begin_fragment() -> None:
    """Begin the run of a fragment: set the language; if the message brought requests, rerun the whole page instead.

    Streamlit (1.67) puts all changes within one tick into one message, which runs only the fragment of the first
    widget, for instance that of a popover that closes.
    """
    use_chosen_language()
    begin_run()
    message = getattr(page_session().get(OUTBOX), "sent", None)
    if inbox().new_requests(message):
        st.rerun()


def end_page(page: Mapping[str, Any]) -> None:
    """Acknowledge the handled requests and send the address parameters of `page`, last in every run.

    A request of a control that has now been drawn gets another run; one that nothing on the page handles is dropped.
    """
    box = inbox()
    while box.waiting:
        if box.waiting[0].key in box.controls:
            st.rerun()
        del box.waiting[0]
    payload = {"handledByTab": box.handled(), "serverId": box.memory, "page": dict(page)}
    component("acknowledgement", "acknowledgement", payload, height=1)


def on_request(key: str, act: Handler) -> None:
    """Call `act` with the value of each request of the control with this `key`, before the page is drawn again."""
    inbox().controls[key] = act


def call_in_rerun(action: Callable[[], object]) -> None:
    """Rerun the page and call `action` first, since the parts that it changes may already be drawn."""
    inbox().actions.append(action)
    st.rerun()


def request_button(
    label: str,
    action: Callable[[], object],
    *,
    key: str,
    type: Literal["primary", "secondary", "tertiary"] = "secondary",  # noqa: A002  as Streamlit's
    disabled: bool = False,
    **arguments: Any,
) -> None:
    """Draw a button; when it was pressed, `action` is called before the page is drawn again.

    The browser sends the press as a request. Outside a view, `arguments` are further ones of `st.button`; its own
    callback serves where there is no browser, as in tests.
    """

    def act(_: Any = None) -> None:
        action()

    if not disabled:
        on_request(key, act)
    if in_view():
        data = {"key": key, "label": label, "type": type, "disabled": disabled}
        component("button", key, data, width="content")
    else:
        st.button(label, key=key, type=type, disabled=disabled, on_click=act, **arguments)
