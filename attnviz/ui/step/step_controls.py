"""Draw the two sentences with the step controls and the what-ifs, and send the browser the view's state."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.components.player import SentencePair, player
from attnviz.ui.components.view_state import view_state
from attnviz.ui.components.what_ifs import what_if_cards
from attnviz.ui.page_state.view import View
from attnviz.ui.step.marks import view_marks


def step_controls(view: View, pair: SentencePair | None = None, *, tour: bool = False) -> None:
    """Draw the sentences, the step controls and the what-ifs.

    `pair` describes sentences other than English and French. With `tour`, the tour of the translation can be started.
    """
    player_box = st.container(key=view.key("player_box"))
    what_if_cards(view)
    view_state(view, tour=tour)
    with player_box:
        player(view, view_marks(view), pair)
