"""Draw the button that starts the tour and, for new visitors, the question whether they want to take it.

The browser handles both by itself: see `components/tour/tour.js`.
"""

from __future__ import annotations

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.components.stored_choice import remembered
from attnviz.ui.page_state.detail_level import DETAIL_LEVEL
from attnviz.ui.toolbar.detail_level import page_level_address

TOUR = "tour"
"""Key under which the browser stores the answer, one of `ANSWERS`."""
ANSWERS = ("taken", "declined")


def tour_button() -> None:
    """Draw the button that starts the tour."""
    st.button(gettext("Tour"), type="tertiary", key="tour_button")


def tour_offer() -> None:
    """Offer the tour to new visitors.

    They have no level of detail from a link or an earlier choice, and have neither taken nor declined the tour; the
    browser stores both.
    """
    is_new = page_level_address()[DETAIL_LEVEL] is None
    if not is_new or remembered(TOUR) in ANSWERS:
        return
    with st.container(key="tour_offer", horizontal=True, vertical_alignment="center"):
        question = gettext("New here? A tour of three minutes explains this translator.")
        st.html(f"<p>{question}</p>")
        st.button(gettext("Take the tour"), type="primary", key="tour_take")
        st.button(gettext("No, thank you"), key="tour_decline")
