"""Store which heads of a transformer a view shows: one, or the mean of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.trace.parts import Heads, head_choices
from attnviz.ui.page_state.linked import SENTENCE_PAGES, Session, linked_entry
from attnviz.ui.view import View, view_key

HEADS = "heads"
"""Session state key of the choice, and address parameter."""


def with_chosen_heads(session: Session, view_id: str, trace: Any, linked: Mapping[str, str]) -> Any:
    """Return `trace` with the attention of the view's chosen heads, at first those of the link.

    A trace without heads, or without these, is returned unchanged.
    """
    chosen = linked_entry(session, linked, view_key(view_id, HEADS), None, scope=SENTENCE_PAGES)
    heads = head_choices(trace).get(str(chosen))
    return trace if heads is None else trace.seen_by(heads.layer, heads.head)


def current_heads(view: View) -> str | None:
    """Return the current heads for the address; None for the mean of all, and where there are none."""
    heads = getattr(view.trace, "heads", Heads())  # single heads and sentence pairs have no choice
    return None if heads == Heads() else heads.name
