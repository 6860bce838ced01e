"""The two sentences of a view with what moves through its steps, and what the browser is told of it."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.components.branches.branches import branch_cards
from attnviz.ui.components.player.player import Pair, player
from attnviz.ui.components.view_state.view_state import view_state
from attnviz.ui.page_state.view import View


def transport(view: View, pair: Pair | None = None, *, tour: bool = False) -> None:
    """Draw the sentences, what moves through the steps, and what was tried by hand; the sentences may be another `pair`
    than English and French. With a `tour`, the translation can be gone through."""
    player_box = st.container(key=view.key("player_box"))
    branch_cards(view)
    view_state(view, tour=tour)
    with player_box:
        player(view, pair)
