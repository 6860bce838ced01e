"""The program that has the server follow a link where it has still to hear of something: see its JavaScript."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import streamlit as st
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.address import went_through_history

_KEY, _ASKED = "page_links", "page_asked_for"


def follow_links(pages: Sequence[StreamlitPage], current: StreamlitPage) -> None:
    """Go on with that of `pages` whose link was clicked on the `current` one, once all that was typed and chosen before
    is heard.

    What the browser tells before it shows the page asked for has Streamlit come back to this one, also once the other
    is drawn: then it is to be followed again.
    """
    session, here = st.session_state, current.url_path

    def ask() -> None:  # may be called as the page after this one begins, which then is the one to leave
        if said := session.get(_KEY):  # none where Streamlit has cleared up after the page before: the run hears it
            session[_ASKED] = _shown(pages), said.page

    asked = component("page_links", isolate=False)(key=_KEY, height=1, on_page_change=ask).page
    if asked is not None:
        session[_ASKED] = _shown(pages), asked
    left, path = session.get(_ASKED, (None, None))
    if asked is None and (_shown(pages) != left or went_through_history()):  # it was left for good, or come back to
        session.pop(_ASKED, None)
    elif asked is not None or left == here:  # asked as the next page began, this may run as the one before it
        for page in pages:
            if page.url_path == path != here:
                st.switch_page(page)


def _shown(pages: Sequence[StreamlitPage]) -> str:
    """Return the path of that of `pages` which the browser showed as it had this run made, whichever the run is of."""
    context = get_script_run_ctx()
    info = context.context_info if context else None
    path = urlsplit(info.url).path.rstrip("/") if info else ""
    return next((page.url_path for page in pages if page.url_path and path.endswith(f"/{page.url_path}")), "")
