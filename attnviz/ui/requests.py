"""Requests of the browser: component state with sequence numbers, each handled once and in order, in the script body.

Streamlit drops triggers and callbacks of a run that another supersedes (streamlit #9100, #14710), but sends component
state with every message. A request stays in that state until a run that has handled it was drawn to its end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import streamlit as st

from attnviz.ui.components.acknowledgement.acknowledgement import acknowledge
from attnviz.ui.components.outbox.outbox import outbox
from attnviz.ui.turns import TURNS

_INBOX = "inbox"
_MOST = 1000
"""Requests that are looked at, and kept."""

Wanted = Callable[[Any], bool]
"""Whether the value of a request is for whoever asks."""


class Request(NamedTuple):
    """What a browser asks for."""

    tab: str
    seq: int
    """Counts from 1 in each tab."""
    name: str
    value: Any


@dataclass
class Inbox:
    """The requests of a visit.

    The session keeps it as one object: to change what is in it does not touch the session, where Streamlit may break a
    run off.
    """

    taken: dict[str, int] = field(default_factory=dict)
    """By tab, the number of the last request that was taken in."""
    waiting: list[Request] = field(default_factory=list)
    actions: list[Callable[[], object]] = field(default_factory=list)
    """What the buttons that were pressed are for; the next run does it before it draws anything."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock within. A run that was superseded may hold it and wait for its turn: who waits leaves his."""
        if not self.lock.acquire(blocking=False):
            with TURNS.left():
                self.lock.acquire()
        try:
            yield
        finally:
            self.lock.release()

    def take_in(self, sent: Any) -> None:
        """Take in each request of a browser that is new; what a browser says may be anything."""
        if not isinstance(sent, Mapping):
            return
        tab, requests = sent.get("tab"), sent.get("requests")
        if not isinstance(tab, str) or len(tab) > 64 or not isinstance(requests, list | tuple):
            return
        with self._locked():
            for one in requests[:_MOST]:
                if not isinstance(one, Mapping):
                    continue
                seq, name = one.get("seq"), one.get("name")
                if isinstance(seq, int | float) and isinstance(name, str) and seq > self.taken.get(tab, 0):
                    self.taken[tab] = int(seq)
                    self.waiting.append(Request(tab, int(seq), name, one.get("value")))
            del self.waiting[:-_MOST]

    def handle(self, name: str, act: Callable[[Any], object], wanted: Wanted = lambda _: True) -> bool:
        """Call `act` with the value of each waiting request of that name that is `wanted`, in order; return whether
        there was one. A request waits on where its run is broken off before `act` has ended."""
        if not self.waiting:
            return False
        with self._locked():
            found = [one for one in self.waiting if one.name == name and wanted(one.value)]
            for one in found:
                act(one.value)
                self.waiting.remove(one)
        return bool(found)

    def act(self) -> None:
        """Do what the buttons that were pressed are for."""
        with self._locked():
            for action in tuple(self.actions):
                action()
                self.actions.remove(action)

    def drop(self, until: Mapping[str, int]) -> None:
        """Drop requests with numbers up to these, by tab: nothing on the page they were drawn with wanted them."""
        with self._locked():
            self.waiting = [one for one in self.waiting if one.seq > until.get(one.tab, 0)]


def inbox() -> Inbox:
    """Return the requests of this visit."""
    session = st.session_state
    if _INBOX not in session:
        session[_INBOX] = Inbox()
    found: Inbox = session[_INBOX]
    return found


def receive() -> dict[str, int]:
    """Take in what the browser asks for, as the first thing that a run of the page does; return what
    `acknowledge_until` is to be called with at its end."""
    box = inbox()
    box.take_in(outbox())
    taken = dict(box.taken)
    box.act()
    return taken


def acknowledge_until(taken: dict[str, int], page: Mapping[str, Any]) -> None:
    """Tell the browser that what it asked for is on show, and what the `page` has in the address: the last thing that a
    run of the page does."""
    inbox().drop(taken)
    acknowledge(taken, page)


def handle(name: str, act: Callable[[Any], object], wanted: Wanted = lambda _: True) -> bool:
    """Handle the waiting requests of that name, as `Inbox.handle` does."""
    return inbox().handle(name, act, wanted)


def take_soon(then: Callable[[], object]) -> None:
    """Run the page again, which first calls `then`: what it changes may be drawn already."""
    inbox().actions.append(then)
    st.rerun()


def request_button(label: str, then: Callable[[], object], *, key: str, **look: Any) -> None:
    """Draw a button; where it was pressed since it was drawn last, run the page again, which first calls `then`.

    The browser makes a request of the press. `look` is for `st.button`, whose own answer counts where there is no
    browser.
    """
    box, clicked = inbox(), st.button(label, key=key, **look)
    pressed = box.handle("press", lambda _: box.actions.append(then), lambda pressed: pressed == key)
    if pressed:
        st.rerun()
    if clicked:
        take_soon(then)
