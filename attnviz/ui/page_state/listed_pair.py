"""Remember which pair was opened from the list of the page *Corpus*, so that its step view leads back there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.ui.page_state import inputs
from attnviz.ui.page_state.view import Session

_PAIR = "listed_pair"


def open_listed_pair(session: Session, source: str, target: str) -> None:
    """Request the forced translation of a pair of the list."""
    inputs.set_request(session, source, target)
    session[_PAIR] = source, target


def is_listed_pair(session: Mapping[Any, Any]) -> bool:
    """Return whether the request is still the pair that was opened from the list."""
    return session.get(_PAIR) == (session.get(inputs.SENTENCE), session.get(inputs.TARGET))
