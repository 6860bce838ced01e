"""The address of the page: everything that changes the view is in it, so that a link opens what is on show.

The server reads an address with `st.query_params` but never writes one there: Streamlit would push an entry of the
browser's history each time. It hands its own parameters to the browser (`components/address.js`), which adds those that
it owns, replaces the entry, and pushes one where another page or translation comes on show.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.ui.page_state.branches import BRANCH, branches_address, forget_branches, tried_in
from attnviz.ui.page_state.gold import forget_gold, gold_address
from attnviz.ui.page_state.heads import HEADS, forget_heads, head_choices, heads_address
from attnviz.ui.page_state.heatmap_choices import choices_address, forget_choices, heatmap_choices
from attnviz.ui.page_state.link_problems import forget_link
from attnviz.ui.page_state.looking_back import forget_looking_back, looking_back_address
from attnviz.ui.page_state.parameters import Offered, offered_in
from attnviz.ui.page_state.view import MAIN, Session, View

Parameters = dict[str, str | None]
"""Address parameters by name; None for one that is to be taken out."""

PAGE = "page"
"""The page on show, in the session and in the address."""
_ADDRESS = "address"
_LEADING = "address_of"


def open_address(session: Session, path: str) -> None:
    """Begin with the page at `path`, empty for the first: another page has another entry of the browser's history, and
    other parameters."""
    session[_ADDRESS] = path or "first", {PAGE: path or None}
    session.pop(_LEADING, None)


def keep_page(session: Session, entry: str, parameters: Parameters) -> None:
    """Keep what the page itself has in the address: `parameters`, and `entry`, what tells its entry of the browser's
    history from others of the page."""
    path = session.get(PAGE) or None
    session[_ADDRESS] = f"{path or 'first'} {entry}", parameters | {PAGE: path}


def lead(session: Session, view: View, main: View) -> None:
    """Have `view`, in the place of `main`, which the page does not draw, give the parameters of `keep_page`."""
    session[_LEADING] = view.id, main


def leads(session: Mapping[Any, Any], view: View) -> bool:
    """Return whether `view` gives the parameters of its page."""
    return bool(view.id == session.get(_LEADING, (MAIN, None))[0])


def main_view(session: Mapping[Any, Any]) -> View | None:
    """Return the page's own view where the page does not draw it, None where it does."""
    main: View | None = session.get(_LEADING, (MAIN, None))[1]
    return main


def write_too(session: Session, parameters: Parameters) -> None:
    """Have `parameters` in the address beside those of `keep_page`, until that is called again."""
    entry, kept = session.get(_ADDRESS, ("", {}))
    session[_ADDRESS] = entry, kept | parameters


def enter(session: Session, place: str) -> None:
    """Have an entry of the browser's history for each `place` of the page of `keep_page`, until that is called
    again."""
    entry, kept = session.get(_ADDRESS, ("", {}))
    session[_ADDRESS] = f"{entry} {place}", kept


def page_parameters(session: Mapping[Any, Any]) -> Parameters:
    """Return the address parameters of the page itself."""
    parameters: Parameters = session.get(_ADDRESS, ("", {}))[1]
    return parameters


def page_record(session: Mapping[Any, Any]) -> dict[str, Any]:
    """Return what the browser writes of the page itself."""
    entry, parameters = session.get(_ADDRESS, ("", {}))
    return {"entry": entry, "parameters": parameters}


def own_parameters(session: Session, view: View) -> Parameters:
    """Return the parameters of `view` that the server owns."""
    own = branches_address(session, view) | choices_address(view, heatmap_choices(session, view))
    return own | looking_back_address(session, view) | heads_address(view) | gold_address(session, view)


def offered_in_link(session: Mapping[Any, Any], view: View) -> dict[str, Offered]:
    """Return what each address parameter of a view can be, but for those that say themselves what of them cannot."""
    tried = len(tried_in(session, view.id).branches)
    own: dict[str, Offered] = {
        view.key(HEADS): tuple(head_choices(view.trace)),
        view.key(BRANCH): range(tried + 1) if tried else (),
    }
    return offered_in(view) | own


def forget_view(session: Session, view_id: str) -> None:
    """Forget what was chosen in a view, so that the link is followed as at the first of a visit."""
    forget_branches(session, view_id)
    forget_choices(session, view_id)
    forget_looking_back(session, view_id)
    forget_heads(session, view_id)
    forget_gold(session, view_id)
    forget_link(session, view_id)
