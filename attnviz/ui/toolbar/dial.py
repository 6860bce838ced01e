"""The dial: how much of a translation the page tells."""

from __future__ import annotations

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.components.remembered.remembered import remember, remembered
from attnviz.ui.language import localised
from attnviz.ui.link import link
from attnviz.ui.page_state.depth import DEPTH, NEWCOMER, Depth, chosen_depth, depth_address, open_depth


def dial() -> Depth:
    """Draw the dial, and have the browser remember what it was turned to; return the depth on show."""
    open_page_depth()
    names = {"idea": gettext("Idea"), "numbers": gettext("Numbers"), "everything": gettext("Everything")}
    localised(
        st.segmented_control,
        gettext("How much to show"),
        names,
        key=DEPTH,
        default=NEWCOMER,
        required=True,
        label_visibility="collapsed",
        width="content",
    )
    remember(DEPTH, chosen_depth(st.session_state))
    return open_page_depth()


def open_page_depth() -> Depth:
    """Return the depth on show: of the dial, and before it is drawn of the link, or what the browser remembered."""
    return open_depth(st.session_state, link(), remembered(DEPTH))


def page_depth_address() -> dict[str, str | None]:
    """Return the address parameter of the depth on show."""
    return depth_address(st.session_state, remembered(DEPTH))
