"""Store whether the section on posterior attention is open; it is closed unless the visitor or a link opens it."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.page_state.view import Session, View, view_key

LOOKING_BACK = "after_word"
"""Session state key, and address parameter."""
FOLDED_OR_OPEN = ("0", "1")
"""Values of the address parameter."""


def shows_posterior(session: Session, view: View, linked: Mapping[str, str] | None = None) -> bool:
    """Return whether the section of `view` is open: at first as in the link, then as the visitor left it."""
    return bool(session.setdefault(view.key(LOOKING_BACK), (linked or {}).get(view.key(LOOKING_BACK)) == "1"))


def look_back(session: Session, view: View, whether: bool) -> None:
    """Open or close the section of `view`."""
    session[view.key(LOOKING_BACK)] = whether


def looking_back_address(session: Session, view: View) -> dict[str, str | None]:
    """Return the address parameter of the section; None where it is closed."""
    return {view.key(LOOKING_BACK): "1" if shows_posterior(session, view) else None}


def forget_looking_back(session: Session, view_id: str) -> None:
    """Close the section of a view, unless another link opens it."""
    session.pop(view_key(view_id, LOOKING_BACK), None)
