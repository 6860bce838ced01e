"""What leads to the tour: a button, and for somebody who is here for the first time an offer, made once.

The browser answers both by itself: see `components/tour/tour.js`.
"""

from __future__ import annotations

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.components.remembered.remembered import remembered
from attnviz.ui.page_state.depth import DEPTH
from attnviz.ui.toolbar.dial import page_depth_address

TOUR = "tour"
"""What the browser remembers the answer under."""
ANSWERS = ("taken", "declined")


def tour_button() -> None:
    """Draw the button that begins the tour."""
    st.button(gettext("Tour"), type="tertiary", key="tour_button")


def tour_offer() -> None:
    """Offer the tour to somebody who came without a link that says how much to show, has never turned the dial, and
    neither took the tour before nor declined it; the browser remembers either."""
    newcomer = page_depth_address()[DEPTH] is None
    if not newcomer or remembered(TOUR) in ANSWERS:
        return
    with st.container(key="tour_offer", horizontal=True, vertical_alignment="center"):
        st.html(
            f"<p>{gettext('New here? A tour shows on this sentence how it works: eight stops, three minutes.')}</p>"
        )
        st.button(gettext("Take the tour"), type="primary", key="tour_take")
        st.button(gettext("No, thank you"), key="tour_decline")
