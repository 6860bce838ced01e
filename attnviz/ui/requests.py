"""The requests of this visit: taken in as a run of the page begins, handled as it is drawn, acknowledged at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from attnviz.ui.components.acknowledgement.acknowledgement import acknowledge
from attnviz.ui.components.outbox.outbox import outbox
from attnviz.ui.inbox import Act, Wanted, inbox


def receive() -> dict[str, int]:
    """Take in what the browser asks for, as the first thing that a run of the page does; return what
    `acknowledge_until` is to be called with at its end."""
    box = inbox(st.session_state)
    box.take_in(outbox(), st.session_state)
    taken = dict(box.taken)
    box.act()
    return taken


def acknowledge_until(taken: dict[str, int], page: Mapping[str, Any]) -> None:
    """Tell the browser that what it asked for is on show, and what the `page` has in the address: the last thing that a
    run of the page does."""
    box = inbox(st.session_state)
    box.drawn(taken)
    acknowledge(taken, box.memory, page)


def handle(acts: Mapping[str, Act], wanted: Wanted = lambda _: True) -> bool:
    """Handle the waiting requests with these names, as `Inbox.handle` does."""
    return inbox(st.session_state).handle(acts, wanted)


def take_soon(then: Callable[[], object]) -> None:
    """Run the page again, which first calls `then`: what it changes may be drawn already."""
    inbox(st.session_state).actions.append(then)
    st.rerun()


def request_button(label: str, then: Callable[[], object], *, key: str, **look: Any) -> None:
    """Draw a button; where it was pressed since it was drawn last, run the page again, which first calls `then`.

    The browser makes a request of the press. `look` is for `st.button`, whose own answer counts where there is no
    browser.
    """
    box, clicked = inbox(st.session_state), st.button(label, key=key, **look)
    press = {"press": lambda _: box.actions.append(then)}
    if box.handle(press, lambda pressed: pressed == key):
        st.rerun()
    if clicked:
        take_soon(then)
