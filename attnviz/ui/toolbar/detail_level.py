"""Draw the switch for the level of detail."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.components.stored_choice.stored_choice import remember, remembered
from attnviz.ui.fields import segmented_control
from attnviz.ui.link import link
from attnviz.ui.page_state.detail_level import (
    DEPTH,
    NEWCOMER,
    DetailLevel,
    choose_depth,
    chosen_depth,
    depth_address,
    open_depth,
)


def detail_level_switch() -> DetailLevel:
    """Draw the switch, and store its choice in the browser; return the current level."""
    open_page_depth()
    names = {"idea": gettext("Idea"), "numbers": gettext("Numbers"), "everything": gettext("Everything")}
    segmented_control(
        gettext("Level of detail"),
        names,
        key=DEPTH,
        default=NEWCOMER,
        then=partial(choose_depth, st.session_state),
        label_visibility="collapsed",
    )
    remember(DEPTH, chosen_depth(st.session_state))
    return open_page_depth()


def open_page_depth() -> DetailLevel:
    """Return the current level: of the switch or, before it is drawn, of the link or the stored choice."""
    return open_depth(st.session_state, link(), remembered(DEPTH))


def page_depth_address() -> dict[str, str | None]:
    """Return the address parameter of the current level."""
    return depth_address(st.session_state, remembered(DEPTH))
