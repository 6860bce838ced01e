"""What goes between the browser and the server of a view: what a visitor chose, and what the server then knows.

Steps are taken in the browser; the server hears of them afterwards. It stands in a part of the page that holds little
else, for that part runs at each step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.address import address_record, page_path
from attnviz.ui.page_state.heatmap_choices import choose_order, shown_order
from attnviz.ui.page_state.parts import FOLLOWING, TRANSPORT, leaving, run_again
from attnviz.ui.page_state.selection import choose, selection_of
from attnviz.ui.page_state.tour import TOUR, go_to, tour_record
from attnviz.ui.page_state.view import Session, View

TakeUp = Callable[[Session, View, Mapping[str, Any]], None]
"""Does what a visitor asks for by hand."""


def messenger(view: View, take_up: TakeUp) -> None:
    """Say what the server knows of `view`, and take over what a visitor chooses anywhere among its pictures; what he
    tries by hand is for `take_up`, and has the whole page run. The browser also writes the address."""
    session, key = st.session_state, view.key("messenger")

    def chosen() -> None:
        said = session.get(key)
        if said is None:  # he chose as another page came, which has none: all of that page runs
            st.rerun()
        told: Mapping[str, Any] = said.chosen or {}
        choice = told.get("choice", {})
        choose(session, view, choice)
        if TOUR in choice:
            go_to(session, view, choice[TOUR])
        if "order" in choice:
            choose_order(session, view, choice["order"])
        if "what_if" in choice:
            take_up(session, view, choice["what_if"])
            if not leaving():
                st.rerun()
        run_again(view, [TRANSPORT, *FOLLOWING.intersection(told.get("parts", ()))])

    selection = selection_of(session, view)
    record = {
        "room": view.key("room"),
        "identity": view.identity,
        "selection": selection.name,
        "step": selection.step,
        "chosen": selection.source,
        "word": selection.word,
        "order": shown_order(session, view),
        "tour": tour_record(session, view),
        "address": address_record(session, view),
        "path": page_path(session),
    }
    component("messenger", isolate=False)(key=key, data=record, on_chosen_change=chosen, height=1)


def is_heard(view: View) -> bool:
    """Return whether this run was asked for through the messenger of `view`; for use in callbacks."""
    said = st.session_state.get(view.key("messenger"))
    return said is not None and said.chosen is not None
