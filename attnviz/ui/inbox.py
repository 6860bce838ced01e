"""Queue the requests of the browser: component state with sequence numbers, each handled once and in order.

Streamlit drops triggers and callbacks of a run that another supersedes (streamlit #9100, #14710), but sends component
state with every message. A request stays in that state until it is handled.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

from attnviz.ui.concurrency import TURNS

_INBOX = "inbox"
_MOST = 1000
"""Largest number of requests that are read from a message and queued."""

Session = MutableMapping[Any, Any]
Act = Callable[[Any], object]
"""Handles a request with this value."""
Wanted = Callable[[Any], bool]
"""Whether the caller handles a request with this value."""


class Request(NamedTuple):
    """A request of a browser."""

    tab: str
    seq: int
    """Sequence number in the tab, from 1."""
    name: str
    value: Any


@dataclass
class Inbox:
    """The requests of a session.

    It is one mutable object in the session state: changing it does not access `st.session_state`, where Streamlit may
    stop a run.
    """

    memory: str = field(default_factory=lambda: secrets.token_hex(8))
    """Random id that differs after a restart of the server, which loses all state."""
    taken: dict[str, int] = field(default_factory=dict)
    """By tab, the number of the last request received."""
    waiting: list[Request] = field(default_factory=list)
    actions: list[Callable[[], object]] = field(default_factory=list)
    """Actions of pressed buttons; the next run does them before it draws anything."""
    run: threading.Thread | None = None
    """The thread of the newest run of the page."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock within; leave the turn while waiting for it.

        A superseded run may hold the lock and wait for a turn.
        """
        if not self.lock.acquire(blocking=False):
            with TURNS.left():
                self.lock.acquire()
        try:
            yield
        finally:
            self.lock.release()

    def new(self, sent: Any) -> list[Request]:
        """Return the requests of a browser that are not queued yet; `sent` comes from there and may be anything.

        Requests to a previous server process are ignored.
        """
        fresh: list[Request] = []
        if not isinstance(sent, Mapping) or sent.get("memory") not in (None, "", self.memory):
            return fresh
        tab, requests = sent.get("tab"), sent.get("requests")
        if not isinstance(tab, str) or len(tab) > 64 or not isinstance(requests, list | tuple):
            return fresh
        last = self.taken.get(tab, 0)
        for item in requests[:_MOST]:
            seq, name = (item.get("seq"), item.get("name")) if isinstance(item, Mapping) else (None, None)
            if _counts(seq) and isinstance(name, str) and seq > last:
                last = int(seq)
                fresh.append(Request(tab, last, name, item.get("value")))
        return fresh

    def _superseded(self) -> bool:
        """Return whether this thread is of a run that a newer one has superseded.

        Streamlit (1.67) starts the next run while such a run goes on to its next interrupt point.
        """
        return self.run is not None and self.run is not threading.current_thread() and self.run.is_alive()

    def take_in(self, sent: Any) -> None:
        """Queue the new requests of a browser; only this run handles them, until there is a newer one."""
        with self._locked():
            self.run = threading.current_thread()
            for one in self.new(sent):
                self.taken[one.tab] = one.seq
                self.waiting.append(one)
            del self.waiting[:-_MOST]

    def handle(self, acts: Mapping[str, Act], wanted: Wanted = lambda _: True) -> bool:
        """Handle the queued requests by their names, up to the first that is not among `acts`; return whether any was.

        Only requests whose value is `wanted` are handled. A request stays in the queue if its run is stopped before the
        act returns. A superseded run handles none.
        """
        if not self.waiting:
            return False
        handled = False
        with self._locked():
            while (first := self.first()) is not None and first.name in acts and wanted(first.value):
                acts[first.name](first.value)
                self.waiting.remove(first)
                handled = True
        return handled

    def act(self) -> None:
        """Do the actions of the pressed buttons."""
        with self._locked():
            for action in () if self._superseded() else tuple(self.actions):
                action()
                self.actions.remove(action)

    def first(self) -> Request | None:
        """Return the request that is handled next; None where none waits, and in a superseded run."""
        return self.waiting[0] if self.waiting and not self._superseded() else None

    def drop(self, request: Request) -> None:
        """Drop a request that nothing on the page handles."""
        with self._locked():
            if request in self.waiting:
                self.waiting.remove(request)

    def handled(self) -> dict[str, int]:
        """Return, by tab, the number of the last request that was handled or dropped."""
        with self._locked():
            numbers = dict(self.taken)
            for one in reversed(self.waiting):
                numbers[one.tab] = one.seq - 1
            return numbers


def _counts(number: Any) -> TypeGuard[float]:
    """Return whether a value from the browser is a valid count."""
    return isinstance(number, int | float) and 0 <= number < 2**53


def inbox(session: Session) -> Inbox:
    """Return the inbox of `session`."""
    if _INBOX not in session:
        session[_INBOX] = Inbox()
    found: Inbox = session[_INBOX]
    return found
