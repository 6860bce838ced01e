"""Store whether the section on posterior attention is open; it is closed unless the visitor or a link opens it."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.page_state.view import Session, View, view_key

POSTERIOR_OPEN = "after_word"
"""Session state key, and address parameter."""
CLOSED_OR_OPEN = ("0", "1")
"""Values of the address parameter: closed, open."""


def shows_posterior(session: Session, view: View, linked: Mapping[str, str] | None = None) -> bool:
    """Return whether the section of `view` is open: at first as in the link, then as the visitor set it."""
    return bool(session.setdefault(view.key(POSTERIOR_OPEN), (linked or {}).get(view.key(POSTERIOR_OPEN)) == "1"))


def set_posterior_open(session: Session, view: View, is_open: bool) -> None:
    """Open or close the section of `view`."""
    session[view.key(POSTERIOR_OPEN)] = is_open


def posterior_address(session: Session, view: View) -> dict[str, str | None]:
    """Return the address parameter of the section; None where it is closed."""
    return {view.key(POSTERIOR_OPEN): "1" if shows_posterior(session, view) else None}


def forget_posterior_section(session: Session, view_id: str) -> None:
    """Close the section of a view, unless another link opens it."""
    session.pop(view_key(view_id, POSTERIOR_OPEN), None)
