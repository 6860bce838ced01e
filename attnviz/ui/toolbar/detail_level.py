"""Draw the switch for the level of detail, and return the page's current level."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.components.stored_choice import remember, remembered
from attnviz.ui.fields import segmented_control
from attnviz.ui.link import link
from attnviz.ui.page_state.detail_level import (
    DEFAULT_LEVEL,
    DETAIL_LEVEL,
    choose_detail_level,
    chosen_detail_level,
    detail_level_address,
    open_detail_level,
)
from attnviz.ui.view import DetailLevel


def detail_level_switch() -> DetailLevel:
    """Draw the switch, and store its choice in the browser; return the current level."""
    page_detail_level()
    names = {"idea": gettext("Idea"), "numbers": gettext("Numbers"), "everything": gettext("Everything")}
    segmented_control(
        gettext("Level of detail"),
        names,
        key=DETAIL_LEVEL,
        default=DEFAULT_LEVEL,
        then=partial(choose_detail_level, st.session_state),
        label_visibility="collapsed",
    )
    remember(DETAIL_LEVEL, chosen_detail_level(st.session_state))
    return page_detail_level()


def page_detail_level() -> DetailLevel:
    """Return the current level: of the switch or, before it is drawn, of the link or the stored choice."""
    return open_detail_level(st.session_state, link(), remembered(DETAIL_LEVEL))


def page_level_address() -> dict[str, str | None]:
    """Return the address parameter of the current level."""
    return detail_level_address(st.session_state, remembered(DETAIL_LEVEL))
