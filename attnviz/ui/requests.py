"""Receive the session's requests when a run of the page begins, and acknowledge them at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from attnviz.ui.components.acknowledgement.acknowledgement import acknowledge
from attnviz.ui.components.outbox.outbox import OUTBOX, outbox
from attnviz.ui.inbox import Act, Request, Wanted, inbox
from attnviz.ui.language import use_chosen_language


def receive() -> None:
    """Receive the requests of the browser, first in every run, and do the actions of the pressed buttons."""
    box = inbox(st.session_state)
    box.take_in(outbox())
    box.act()


def begin_fragment() -> None:
    """Begin the run of a fragment: set the language; if the message brought requests, rerun the whole page instead.

    Streamlit (1.67) puts what changes within one tick into one message, which runs the fragment of the first widget
    alone, for instance that of a popover that closes.
    """
    use_chosen_language()
    sent = getattr(st.session_state.get(OUTBOX), "sent", None)
    if inbox(st.session_state).new(sent):
        st.rerun()


def next_request() -> Request | None:
    """Return the request that is handled next, None where none waits."""
    return inbox(st.session_state).first()


def acknowledge_handled(offered: Request | None, page: Mapping[str, Any]) -> None:
    """Acknowledge the handled requests and send the address parameters of `page`, last in every run.

    The request that was `offered` to the parts of the page, and that none has handled, is dropped; those after it get
    another run.
    """
    box = inbox(st.session_state)
    if offered is not None and box.first() is offered:
        box.drop(offered)
    if box.first() is not None:
        st.rerun()
    acknowledge(box.handled(), box.memory, page)


def handle(acts: Mapping[str, Act], wanted: Wanted = lambda _: True) -> bool:
    """Handle the next queued requests if they have these names, as `Inbox.handle` does."""
    return inbox(st.session_state).handle(acts, wanted)


def call_in_rerun(then: Callable[[], object]) -> None:
    """Rerun the page and call `then` first, since what it changes may already be drawn."""
    inbox(st.session_state).actions.append(then)
    st.rerun()


def request_button(label: str, then: Callable[[], object], *, key: str, **arguments: Any) -> None:
    """Draw a button; when it was pressed, rerun the page and call `then` first.

    The browser sends the press as a request. `arguments` are those of `st.button`, whose return value counts where
    there is no browser, as in tests.
    """
    box, clicked = inbox(st.session_state), st.button(label, key=key, **arguments)
    press = {"press": lambda _: box.actions.append(then)}
    if box.handle(press, lambda pressed: pressed == key):
        st.rerun()
    if clicked:
        call_in_rerun(then)
