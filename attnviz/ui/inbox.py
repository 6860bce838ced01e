"""Queue the requests of the browser: component state with sequence numbers, each handled once and in order.

Streamlit drops triggers and callbacks of a run that another supersedes (streamlit #9100, #14710), but sends component
state with every message. A request stays in that state until a run that has handled it was drawn completely.

Streamlit also sends the value of every widget with each message. A message that left the browser before it received a
new value therefore overwrites what the server has set; such an effect is applied again (`Effect`).
"""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

from attnviz.ui.concurrency import TURNS

_INBOX = "inbox"
_TEXTS = 100
"""Texts of a box that are remembered."""
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
class Effect:
    """A change by the server of widget values that the browser also sends."""

    act: Callable[[], object]
    until: dict[str, int]
    """By tab, the last request received before the change.

    Once it is acknowledged, the browser has received the change too.
    """
    typed: tuple[str, ...]
    """Keys of the text boxes that it sets: it ends once one of them is edited."""
    drawn: bool = False
    """Whether a run was drawn completely since the change."""


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
    effects: list[Effect] = field(default_factory=list)
    texts: dict[str, deque[Any]] = field(default_factory=dict)
    """By key of a text box, what it has contained lately: anything else was typed, not sent again."""
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

    def take_in(self, sent: Any, session: Session) -> None:
        """Queue the new requests of a browser, and apply again the effects in `session` that it has not received.

        `sent` comes from the browser and may be anything. Requests to a previous server process are ignored.
        """
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
        """Apply again the effects that no run has drawn, and those the browser has not received.

        The latter are those later than the last request that it had `seen` acknowledged when it sent a `fresh` message.
        """
        last = int(seen) if _counts(seen) else 0
        edited = {key for key, texts in self.texts.items() if session.get(key) not in texts}
        for effect in tuple(self.effects):
            unseen = not effect.drawn or (fresh and last < effect.until.get(tab, 0))
            if edited.intersection(effect.typed) or (fresh and not unseen):
                self.effects.remove(effect)
            elif unseen:
                effect.act()
        self._note(session, tuple(self.texts))

    def _note(self, session: Session, keys: tuple[str, ...]) -> None:
        """Remember the texts of these boxes."""
        for key in keys:
            texts = self.texts.setdefault(key, deque(maxlen=_TEXTS))
            if session.get(key) not in texts:
                texts.append(session.get(key))

    def hold(self, session: Session, act: Callable[[], object], typed: tuple[str, ...] = ()) -> None:
        """Call `act`, which sets widget values in `session`, and repeat it for each message that overwrites them.

        It is not repeated once a box with one of the keys `typed` has been edited.
        """
        with self._locked():
            self._note(session, typed)
            act()
            self._note(session, typed)
            self.effects.append(Effect(act, dict(self.taken), typed))

    def handle(self, acts: Mapping[str, Act], wanted: Wanted = lambda _: True) -> bool:
        """Call the act of each queued request by its name, in order; return whether there was one.

        Only requests whose value is `wanted` are handled. A request stays in the queue if its run is stopped before the
        act returns.
        """
        if not self.waiting:
            return False
        with self._locked():
            found = [one for one in self.waiting if one.name in acts and wanted(one.value)]
            for one in found:
                acts[one.name](one.value)
                self.waiting.remove(one)
        return bool(found)

    def act(self) -> None:
        """Do the actions of the pressed buttons."""
        with self._locked():
            for action in tuple(self.actions):
                action()
                self.actions.remove(action)

    def drawn(self, until: Mapping[str, int]) -> None:
        """Record that a run was drawn completely; drop unhandled requests up to the numbers `until`, by tab."""
        with self._locked():
            self.waiting = [one for one in self.waiting if one.seq > until.get(one.tab, 0)]
            for effect in self.effects:
                effect.drawn = True


def _counts(number: Any) -> TypeGuard[float]:
    """Return whether a value from the browser is a valid count."""
    return isinstance(number, int | float) and 0 <= number < 2**53


def inbox(session: Session) -> Inbox:
    """Return the inbox of `session`."""
    if _INBOX not in session:
        session[_INBOX] = Inbox()
    found: Inbox = session[_INBOX]
    return found


def hold(session: Session, act: Callable[[], object], typed: tuple[str, ...] = ()) -> None:
    """Call `act` and repeat it where it is overwritten, as `Inbox.hold` does."""
    inbox(session).hold(session, act, typed)
