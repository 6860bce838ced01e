"""Whether the part of a step that looks back from its word is open: folded unless the visitor or a link opened it."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.page_state.view import Session, View, view_key

LOOKING_BACK = "after_word"
"""What is kept in the session, and address parameter."""
FOLDED_OR_OPEN = ("0", "1")
"""What the address parameter can be."""


def looks_back(session: Session, view: View, linked: Mapping[str, str] | None = None) -> bool:
    """Return whether the part of `view` is open: at first as the link has it, then as the visitor left it."""
    return bool(session.setdefault(view.key(LOOKING_BACK), (linked or {}).get(view.key(LOOKING_BACK)) == "1"))


def look_back(session: Session, view: View, whether: bool) -> None:
    """Open the part of `view`, or fold it."""
    session[view.key(LOOKING_BACK)] = whether


def looking_back_address(session: Session, view: View) -> dict[str, str | None]:
    """Return the address parameter of the part; None where it is folded."""
    return {view.key(LOOKING_BACK): "1" if looks_back(session, view) else None}


def forget_looking_back(session: Session, view_id: str) -> None:
    """Fold the part of a view, unless another link opens it."""
    session.pop(view_key(view_id, LOOKING_BACK), None)
