"""Know for which visitor a thread translates, and show on the page how many translations of others come first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnviz import lazy_streamlit as st
from attnviz.languages import gettext, ngettext

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_LONG_WAIT = 10
"""Seconds from which on the expected wait is shown."""


@dataclass
class QueueNotice:
    """The position of a visitor's sentence among those that wait for their translation, shown on the page."""

    visitor: str
    """Random id of the visitor."""
    place: DeltaGenerator | None = None
    """Where it is shown; None while a payload is made, which draws nothing on the page."""
    is_shown: bool = False

    def show(self, first: int, seconds: float) -> None:
        """Show how many sentences come first, and about how many `seconds` the translation takes if that is long.

        Show nothing without a place. Streamlit stops the run here if the visitor has left or requested something else.
        """
        if self.place is None:
            return
        lines = [
            ngettext(
                "One other sentence is translated before yours.",
                "{count} other sentences are translated before yours.",
                first,
            )
            if first
            else gettext("Your sentence is translated next.")
        ]
        if seconds >= _LONG_WAIT:
            rounded = _LONG_WAIT * round(seconds / _LONG_WAIT)
            lines.append(gettext("Your translation will be ready in about {seconds} seconds.", seconds=rounded))
        self.is_shown = True
        self.place.text(" ".join(lines))

    def hide(self) -> None:
        """Remove what is shown."""
        if self.place is not None and self.is_shown:
            self.place.empty()


_NOTICE: ContextVar[QueueNotice | None] = ContextVar("queue_notice", default=None)


@contextmanager
def queue_notice(visitor: str) -> Iterator[None]:
    """Show the notice here for translations within."""
    with st.container(key="queue_notice"):
        place = st.empty()
    with _notice(QueueNotice(visitor, place)):
        yield


@contextmanager
def translating_for(visitor: str | None) -> Iterator[None]:
    """Let translations within, which draw nothing on the page, have their turns as those of a visitor, if given."""
    with _notice(None if visitor is None else QueueNotice(visitor)):
        yield


@contextmanager
def _notice(notice: QueueNotice | None) -> Iterator[None]:
    token = _NOTICE.set(notice)
    try:
        yield
    finally:
        _NOTICE.reset(token)


def current_notice() -> QueueNotice | None:
    """Return the notice of the visitor for whom this thread works, or None where it works for no visitor."""
    return _NOTICE.get()
