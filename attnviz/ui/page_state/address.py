"""Build the address of the page (parameters that restore everything shown, history entry); clear a view's choices.

The server reads an address with `st.query_params` but never writes it there, since Streamlit would push a history entry
each time. It sends its own parameters to the browser (`components/address.js`), which adds those that it owns, replaces
the history entry, and pushes a new one when another page or translation is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.ui.page_state.gold import forget_gold, gold_address
from attnviz.ui.page_state.heads import HEADS, forget_heads, head_choices, heads_address
from attnviz.ui.page_state.parameters import ValidValues, offered_in
from attnviz.ui.page_state.view import MAIN, Session, View
from attnviz.ui.page_state.what_ifs import WHAT_IF, forget_what_ifs, stored_what_ifs, what_ifs_address

Parameters = dict[str, str | None]
"""Address parameters by name; None removes one."""

PAGE = "page"
"""Session state key of the current page, and address parameter."""
_ADDRESS = "address"
_PROVIDER = "address_of"


def open_address(session: Session, path: str) -> None:
    """Start the address of the page at `path`, empty for the first; it has its own history entry and parameters."""
    session[_ADDRESS] = path or "first", {PAGE: path or None}
    session.pop(_PROVIDER, None)


def set_page_address(session: Session, entry: str, parameters: Parameters) -> None:
    """Add the page's own address `parameters`, and set the `entry` that identifies its history entry."""
    path = session.get(PAGE) or None
    session[_ADDRESS] = f"{path or 'first'} {entry}", page_parameters(session) | parameters | {PAGE: path}


def set_address_view(session: Session, view: View, main: View) -> None:
    """Let `view` provide the page's parameters instead of `main`, the page's own view, which is not drawn."""
    session[_PROVIDER] = view.id, main


def is_address_view(session: Mapping[Any, Any], view: View) -> bool:
    """Return whether `view` provides the parameters of its page."""
    return bool(view.id == session.get(_PROVIDER, (MAIN, None))[0])


def main_view(session: Mapping[Any, Any]) -> View | None:
    """Return the page's own view if the page does not draw it, otherwise None."""
    main: View | None = session.get(_PROVIDER, (MAIN, None))[1]
    return main


def add_parameters(session: Session, parameters: Parameters) -> None:
    """Add `parameters` to the address of the page, in this run."""
    entry, previous = session.get(_ADDRESS, ("", {}))
    session[_ADDRESS] = entry, previous | parameters


def add_history_entry(session: Session, place: str) -> None:
    """Give each `place` on the page its own history entry, in this run."""
    entry, previous = session.get(_ADDRESS, ("", {}))
    session[_ADDRESS] = f"{entry} {place}", previous


def page_parameters(session: Mapping[Any, Any]) -> Parameters:
    """Return the address parameters of the page itself."""
    parameters: Parameters = session.get(_ADDRESS, ("", {}))[1]
    return parameters


def page_payload(session: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the payload of the page's own address."""
    entry, parameters = session.get(_ADDRESS, ("", {}))
    return {"entry": entry, "parameters": parameters}


def own_parameters(session: Session, view: View) -> Parameters:
    """Return the parameters of `view` that the server owns."""
    return what_ifs_address(session, view) | heads_address(view) | gold_address(session, view)


def valid_values_in_link(session: Mapping[Any, Any], view: View) -> dict[str, ValidValues]:
    """Return the valid values of each address parameter of a view; empty for those that other modules validate."""
    count = len(stored_what_ifs(session, view.id).what_ifs)
    own: dict[str, ValidValues] = {
        view.key(HEADS): tuple(head_choices(view.trace)),
        view.key(WHAT_IF): range(count + 1) if count else (),
    }
    return offered_in(view) | own


def forget_view(session: Session, view_id: str) -> None:
    """Clear what was chosen in a view, so that the link is read as in a new session."""
    forget_what_ifs(session, view_id)
    forget_heads(session, view_id)
    forget_gold(session, view_id)
