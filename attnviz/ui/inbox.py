"""What the browser asks of the server: component state with sequence numbers, each request handled once and in order.

Streamlit drops triggers and callbacks of a run that another supersedes (streamlit #9100, #14710), but sends component
state with every message. A request stays in that state until a run that has handled it was drawn to its end.

Streamlit also sends with every message what stands in each box. What the server puts into a box is therefore undone by
a message that left the browser before it saw the new text, so such an effect is brought about again (`Effect`).
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

from attnviz.ui.turns import TURNS

_INBOX = "inbox"
_MOST = 1000
"""Requests that are looked at, and kept."""

Session = MutableMapping[Any, Any]
Act = Callable[[Any], object]
"""What a request with this value is for."""
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
class Effect:
    """What the server did to boxes that the browser fills, too."""

    act: Callable[[], object]
    until: dict[str, int]
    """By tab, the number of the last request taken in: a browser has seen the effect once that is acknowledged."""
    before: dict[str, Any]
    """What stood in the boxes that a person types in."""
    after: dict[str, Any]
    drawn: bool = False
    """Whether a run was drawn to its end since."""

    def renew(self, session: Session) -> None:
        """Bring the effect about again, unless a box has what somebody typed since."""
        if all(session.get(key) in (self.before[key], self.after[key]) for key in self.before):
            self.act()


@dataclass
class Inbox:
    """The requests of a visit.

    The session keeps it as one object: to change what is in it does not touch the session, where Streamlit may break a
    run off.
    """

    memory: str = field(default_factory=lambda: secrets.token_hex(8))
    """Tells it from that of a server before, which forgot all as it ended."""
    taken: dict[str, int] = field(default_factory=dict)
    """By tab, the number of the last request that was taken in."""
    waiting: list[Request] = field(default_factory=list)
    actions: list[Callable[[], object]] = field(default_factory=list)
    """What the buttons that were pressed are for; the next run does it before it draws anything."""
    effects: list[Effect] = field(default_factory=list)
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

    def take_in(self, sent: Any, session: Session) -> None:
        """Take in each request of a browser that is new, and bring about again in `session` what it has not seen; what
        a browser says may be anything. What it asked another server for is not asked of this one."""
        if not isinstance(sent, Mapping):
            sent = {}
        tab, requests = sent.get("tab"), sent.get("requests")
        if not isinstance(tab, str) or len(tab) > 64 or not isinstance(requests, list | tuple):
            tab, requests = "", ()
        if sent.get("memory") not in (None, "", self.memory):
            requests = ()
        with self._locked():
            before = self.taken.get(tab, 0)
            for one in requests[:_MOST]:
                if not isinstance(one, Mapping):
                    continue
                seq, name = one.get("seq"), one.get("name")
                if _counts(seq) and isinstance(name, str) and seq > self.taken.get(tab, 0):
                    self.taken[tab] = int(seq)
                    self.waiting.append(Request(tab, int(seq), name, one.get("value")))
            del self.waiting[:-_MOST]
            self._renew(tab, sent.get("seen"), session, fresh=self.taken.get(tab, 0) > before)

    def _renew(self, tab: str, seen: Any, session: Session, *, fresh: bool) -> None:
        """Bring about again what no run has drawn yet, and what the browser had not `seen` as it sent a `fresh`
        message."""
        last = int(seen) if _counts(seen) else 0
        for effect in tuple(self.effects):
            if not effect.drawn or (fresh and last < effect.until.get(tab, 0)):
                effect.renew(session)
            elif fresh:
                self.effects.remove(effect)

    def hold(self, session: Session, act: Callable[[], object], typed: tuple[str, ...] = ()) -> None:
        """Call `act`, which fills boxes in `session`, and do it again for each message that undoes it; not where one of
        the boxes with the keys `typed` has another text since."""
        before = {key: session.get(key) for key in typed}
        act()
        after = {key: session.get(key) for key in typed}
        with self._locked():
            self.effects.append(Effect(act, dict(self.taken), before, after))

    def handle(self, acts: Mapping[str, Act], wanted: Wanted = lambda _: True) -> bool:
        """Call the act of each waiting request that has one by its name and is `wanted`, with its value, in order;
        return whether there was one. A request waits on where its run is broken off before its act has ended."""
        if not self.waiting:
            return False
        with self._locked():
            found = [one for one in self.waiting if one.name in acts and wanted(one.value)]
            for one in found:
                acts[one.name](one.value)
                self.waiting.remove(one)
        return bool(found)

    def act(self) -> None:
        """Do what the buttons that were pressed are for."""
        with self._locked():
            for action in tuple(self.actions):
                action()
                self.actions.remove(action)

    def drawn(self, until: Mapping[str, int]) -> None:
        """Take note that a run was drawn to its end, and drop requests with numbers up to these, by tab: nothing on the
        page wanted them."""
        with self._locked():
            self.waiting = [one for one in self.waiting if one.seq > until.get(one.tab, 0)]
            for effect in self.effects:
                effect.drawn = True


def _counts(number: Any) -> TypeGuard[float]:
    """Return whether a browser's number counts something."""
    return isinstance(number, int | float) and 0 <= number < 2**53


def inbox(session: Session) -> Inbox:
    """Return the requests of the visit that `session` is of."""
    if _INBOX not in session:
        session[_INBOX] = Inbox()
    found: Inbox = session[_INBOX]
    return found


def hold(session: Session, act: Callable[[], object], typed: tuple[str, ...] = ()) -> None:
    """Call `act`, as `Inbox.hold` does."""
    inbox(session).hold(session, act, typed)
