"""Build the address of the page, which contains everything that changes the view, so that a link restores it.

The server reads an address with `st.query_params` but never writes it there: Streamlit would push a history entry each
time. It sends its own parameters to the browser (`components/address.js`), which adds those that it owns, replaces the
history entry, and pushes a new one when another page or translation is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.ui.page_state.gold import forget_gold, gold_address
from attnviz.ui.page_state.heads import HEADS, forget_heads, head_choices, heads_address
from attnviz.ui.page_state.heatmap_choices import choices_address, forget_choices, heatmap_choices
from attnviz.ui.page_state.link_problems import forget_link
from attnviz.ui.page_state.parameters import Offered, offered_in
from attnviz.ui.page_state.posterior_section import forget_looking_back, looking_back_address
from attnviz.ui.page_state.view import MAIN, Session, View
from attnviz.ui.page_state.what_ifs import WHAT_IF, forget_what_ifs, tried_in, what_ifs_address

Parameters = dict[str, str | None]
"""Address parameters by name; None removes one."""

PAGE = "page"
"""Name of the current page, in the session state and in the address."""
_ADDRESS = "address"
_LEADING = "address_of"


def open_address(session: Session, path: str) -> None:
    """Start the address of the page at `path`, empty for the first; it has its own history entry and parameters."""
    session[_ADDRESS] = path or "first", {PAGE: path or None}
    session.pop(_LEADING, None)


def keep_page(session: Session, entry: str, parameters: Parameters) -> None:
    """Set the page's own address `parameters`, and the `entry` that identifies its history entry."""
    path = session.get(PAGE) or None
    session[_ADDRESS] = f"{path or 'first'} {entry}", parameters | {PAGE: path}


def lead(session: Session, view: View, main: View) -> None:
    """Let `view` provide the page's parameters instead of `main`, which the page does not draw."""
    session[_LEADING] = view.id, main


def leads(session: Mapping[Any, Any], view: View) -> bool:
    """Return whether `view` provides the parameters of its page."""
    return bool(view.id == session.get(_LEADING, (MAIN, None))[0])


def main_view(session: Mapping[Any, Any]) -> View | None:
    """Return the page's own view if the page does not draw it, otherwise None."""
    main: View | None = session.get(_LEADING, (MAIN, None))[1]
    return main


def write_too(session: Session, parameters: Parameters) -> None:
    """Add `parameters` to those of `keep_page`, until that is called again."""
    entry, kept = session.get(_ADDRESS, ("", {}))
    session[_ADDRESS] = entry, kept | parameters


def enter(session: Session, place: str) -> None:
    """Make a history entry for each `place` of the page of `keep_page`, until that is called again."""
    entry, kept = session.get(_ADDRESS, ("", {}))
    session[_ADDRESS] = f"{entry} {place}", kept


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
    own = what_ifs_address(session, view) | choices_address(view, heatmap_choices(session, view))
    return own | looking_back_address(session, view) | heads_address(view) | gold_address(session, view)


def offered_in_link(session: Mapping[Any, Any], view: View) -> dict[str, Offered]:
    """Return the valid values of each address parameter of a view, except of those validated elsewhere."""
    tried = len(tried_in(session, view.id).what_ifs)
    own: dict[str, Offered] = {
        view.key(HEADS): tuple(head_choices(view.trace)),
        view.key(WHAT_IF): range(tried + 1) if tried else (),
    }
    return offered_in(view) | own


def forget_view(session: Session, view_id: str) -> None:
    """Clear what was chosen in a view, so that the link is read as in a new session."""
    forget_what_ifs(session, view_id)
    forget_choices(session, view_id)
    forget_looking_back(session, view_id)
    forget_heads(session, view_id)
    forget_gold(session, view_id)
    forget_link(session, view_id)
