"""The address of the page: everything that changes the view is in it, so that a link opens what is on show.

The server reads an address with `st.query_params` but never writes one there: Streamlit would push an entry of the
browser's history at every step. It hands the parameters to the browser instead (`components/player/address.js`), which
replaces the entry, and pushes one where another page or translation comes on show.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamlit.runtime.scriptrunner import get_script_run_ctx

from attnviz.ui.page_state import inputs
from attnviz.ui.page_state.branches import BRANCH, branches_address, forget_branches, tried_in
from attnviz.ui.page_state.gold import forget_gold, gold_address
from attnviz.ui.page_state.heads import HEADS, forget_heads, head_choices, heads_address
from attnviz.ui.page_state.heatmap_choices import (
    choices_address,
    choices_offered,
    forget_choices,
    heatmap_choices,
    row_order,
)
from attnviz.ui.page_state.link_problems import Offered, forget_link
from attnviz.ui.page_state.looking_back import (
    FOLDED_OR_OPEN,
    LOOKING_BACK,
    forget_looking_back,
    looking_back_address,
)
from attnviz.ui.page_state.selection import forget_selection, selection_address, selection_of, selection_offered
from attnviz.ui.page_state.tour import STOPS, TOUR, forget_tour, tour_address, tour_of
from attnviz.ui.page_state.view import MAIN, Session, View

Parameters = dict[str, str | None]
"""Address parameters by name; None for one that is to be taken out."""

_PAGE = "address"
_LEADING = "address_of"
_PATH = "path"


def keep_path(session: Session, path: str) -> None:
    """Keep the path of the page that is drawn, empty for the first: what is on it is in its addresses alone."""
    session[_PATH] = path


def page_path(session: Mapping[Any, Any]) -> str:
    """Return the path of `keep_path`."""
    path: str = session.get(_PATH, "")
    return path


def keep_page(session: Session, entry: str, parameters: Parameters) -> None:
    """Keep what the page itself writes into the address: `parameters`, and `entry`, what tells its entry of the
    browser's history from another."""
    session[_PAGE] = entry, parameters
    session.pop(_LEADING, None)


def lead(session: Session, view: View) -> None:
    """Have `view`, in the place of the main one, which the page does not draw, write the parameters of `keep_page`."""
    session[_LEADING] = view.id


def write_too(session: Session, parameters: Parameters) -> None:
    """Have `parameters` in the address beside those of `keep_page`, until that is called again."""
    entry, kept = session.get(_PAGE, ("", {}))
    session[_PAGE] = entry, kept | parameters


def enter(session: Session, place: str) -> None:
    """Have an entry of the browser's history for each `place` of the page of `keep_page`, until that is called
    again."""
    entry, kept = session.get(_PAGE, ("", {}))
    session[_PAGE] = f"{entry} {place}", kept


def page_parameters(session: Mapping[Any, Any]) -> Parameters:
    """Return the address parameters of the page itself."""
    parameters: Parameters = session.get(_PAGE, ("", {}))[1]
    return parameters


def address_record(session: Session, view: View) -> dict[str, Any]:
    """Return what the browser writes of `view`, and with the view that leads its page, the main one where there is no
    other: `parameters`, and the `entry`. On the tour the address has what was on show before, and each stop is an entry
    of its own."""
    entry, page = session.get(_PAGE, ("", {}))
    tour = tour_of(session, view)
    chosen = selection_address(view, tour.before if tour else selection_of(session, view)) | tour_address(session, view)
    entry += f" tour {tour.stop}" if tour else ""
    tried = branches_address(session, view)
    own = chosen | tried | choices_address(view, heatmap_choices(session, view), row_order(session, view))
    own |= looking_back_address(session, view) | heads_address(view) | gold_address(session, view)
    if view.id != session.get(_LEADING, MAIN):
        return {"entry": entry, "parameters": own}
    if page.get(inputs.SENTENCE, "") is None and any((chosen | tried).values()):
        # A step means nothing without its sentence: the page may open on another one day.
        page = page | {inputs.SENTENCE: view.trace.source_text}
    return {"entry": entry, "parameters": page | own}


def offered_in_link(session: Mapping[Any, Any], view: View) -> dict[str, Offered]:
    """Return what each address parameter of a view can be, but for those that say themselves what of them cannot."""
    tried = len(tried_in(session, view.id).branches)
    own: dict[str, Offered] = {
        **choices_offered(),
        **selection_offered(view),
        LOOKING_BACK: FOLDED_OR_OPEN,
        TOUR: range(1, STOPS + 1),
        HEADS: tuple(head_choices(view.trace)),
        BRANCH: range(tried + 1) if tried else (),
    }
    return {view.key(name): values for name, values in own.items()}


def went_through_history() -> bool:
    """Return whether this run was asked for by Back or Forward: the address then says what is to be shown."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def forget_view(session: Session, view_id: str) -> None:
    """Forget what was chosen in a view, so that the link is followed as at the first of a visit."""
    forget_selection(session, view_id)
    forget_branches(session, view_id)
    forget_choices(session, view_id)
    forget_looking_back(session, view_id)
    forget_heads(session, view_id)
    forget_gold(session, view_id)
    forget_tour(session, view_id)
    forget_link(session, view_id)
