"""Draw the choice of what the decoder gets: a new context vector at each step, or the same one at all steps.

A vector that stays the same is a what-if like any other: recorded, verified and in the link.
"""

from __future__ import annotations

import math
from functools import partial

import streamlit as st

from attnviz.languages import gettext
from attnviz.trace import WhatIf
from attnviz.trace.changes import Change, FreezeContext, SetTemperature
from attnviz.ui.fields import segmented_control
from attnviz.ui.page_state.view import View
from attnviz.ui.page_state.what_ifs import WHAT_IFS, stored_what_ifs
from attnviz.ui.step.intervention_controls import slider_labels

CHANGES: dict[str, Change] = {"first": FreezeContext(0), "mean": SetTemperature(math.inf)}
"""The changes that give all steps one vector, by choice: that of the first step, or the mean of the annotations."""


def context_choice(view: View) -> None:
    """Draw the choice, where attention can be changed; `view` shows the translation with that vector."""
    if view.what_ifs is None or slider_labels(view.trace) is None:
        return
    key = view.key("context")
    st.session_state[key] = _current(view)
    names = {
        "each": gettext("a new mixture at each step"),
        "first": gettext("always that of step 1"),
        "mean": gettext("always the mean of all words"),
    }
    with st.container(horizontal=True, vertical_alignment="center", key=view.key("context_choice")):
        st.html(f'<p class="label">{gettext("The decoder gets")}</p>', width="content")
        segmented_control(
            gettext("The decoder gets"),
            names,
            key=key,
            default="each",
            then=partial(_choose, view, key),
            label_visibility="collapsed",
        )


def _current(view: View) -> str:
    """Return the choice that the current what-if is, or "each"."""
    change = view.what_ifs.what_ifs[view.number - 1].change if view.what_ifs and view.number else None
    return next((name for name, one in CHANGES.items() if one == change), "each")


def _choose(view: View, key: str) -> None:
    """Show the translation of which one of `CHANGES` is made, or the what-if that makes the chosen one."""
    session, current, chosen = st.session_state, _current(view), st.session_state[key]
    if view.what_ifs is None or chosen == current:
        return
    base = view.number if current == "each" else view.what_ifs.what_ifs[view.number - 1].parent
    stored = stored_what_ifs(session, view.id)
    session[view.key(WHAT_IFS)] = (
        stored.showing(base) if chosen == "each" else stored.adding(WhatIf(base, CHANGES[chosen]))
    )
