"""The two sentences of a view with what moves through its steps, and what goes between browser and server."""

from __future__ import annotations

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.components.branches.branches import branch_cards
from attnviz.ui.components.messenger.messenger import is_heard, messenger
from attnviz.ui.components.player.player import Pair, player
from attnviz.ui.language import use_chosen_language
from attnviz.ui.page_state.parts import TRANSPORT, part, run_again, tells_of_more
from attnviz.ui.page_state.selection import choose, selection_of
from attnviz.ui.page_state.view import View
from attnviz.ui.step.what_if import take_up


def transport(view: View, pair: Pair | None = None) -> None:
    """Draw the sentences, what moves through the steps, and what was tried by hand; the sentences may be another `pair`
    than English and French."""
    player_box, slider = st.container(key=view.key("player_box")), st.container(key=view.key("slider"))
    branch_cards(view)
    with slider:
        part(view, TRANSPORT, _moving)(view)
    with player_box:
        player(view, pair)


def _moving(view: View) -> None:
    """Draw the slider, whose numbers are printed text: they count from 1. It runs again at each step."""
    use_chosen_language()
    key, session = view.key("step"), st.session_state

    def moved() -> None:
        if is_heard(view) or tells_of_more():  # a step was taken elsewhere, and the slider has not followed yet
            run_again(view, [TRANSPORT])
            return
        choose(session, view, {"step": session[key] - 1})

    if view.steps > 1:
        session[key] = selection_of(session, view).step + 1
        shown = gettext("step {step} of {count}", step="%d", count=view.steps)
        st.slider(gettext("Step"), 1, view.steps, key=key, format=shown, label_visibility="collapsed", on_change=moved)
    # After the slider: who hears of a step may ask the server at once, and says where the slider is.
    messenger(view, take_up)
