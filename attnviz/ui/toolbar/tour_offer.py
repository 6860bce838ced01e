"""What leads to the tour: a button, and for somebody who is here for the first time an offer, made once."""

from __future__ import annotations

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.components.remembered.remembered import remember, remembered
from attnviz.ui.page_state.depth import DEPTH
from attnviz.ui.page_state.tour import ANSWERS, TOUR, answer, answered, begin_tour
from attnviz.ui.toolbar.dial import page_depth_address


def tour_button() -> None:
    """Draw the button that begins the tour."""
    st.button(gettext("Tour"), type="tertiary", key="tour_button", on_click=begin_tour, args=(st.session_state,))


def tour_offer() -> None:
    """Offer the tour to somebody who came without a link that says how much to show, has never turned the dial, and
    neither took the tour before nor declined it; the browser remembers either."""
    session = st.session_state
    remember(TOUR, answered(session))
    newcomer = page_depth_address()[DEPTH] is None
    if not newcomer or answered(session) or remembered(TOUR) in ANSWERS:
        return
    with st.container(key="tour_offer", horizontal=True, vertical_alignment="center"):
        st.html(
            f"<p>{gettext('New here? A tour shows on this sentence how it works: eight stops, three minutes.')}</p>"
        )
        st.button(gettext("Take the tour"), type="primary", key="tour_take", on_click=begin_tour, args=(session,))
        st.button(gettext("No, thank you"), key="tour_decline", on_click=answer, args=(session, "declined"))
