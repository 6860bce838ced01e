"""Mount the state of a view: how many steps its translation has, and which address parameters belong to it.

The current selection in it (step, source piece, words …) is known to the browser only.
"""

from __future__ import annotations

import hashlib
from typing import Any

import streamlit as st

from attnviz.figures.source_rows import MOST_ROWS
from attnviz.ui.components.loader import component
from attnviz.ui.page_state import address, inputs
from attnviz.ui.page_state.parameters import browser_parameters, can_be_toured
from attnviz.ui.page_state.view import MAIN, Session, View
from attnviz.ui.page_state.what_ifs import tried_in


def view_state(view: View, *, tour: bool = False) -> None:
    """Send the browser the state of `view`; with `tour`, the tour can be started there."""
    component("view_state", isolate=False)(
        key=view.key("view_state"), data=view_payload(st.session_state, view, tour=tour), height=1
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def view_payload(session: Session, view: View, *, tour: bool = False) -> dict[str, Any]:
    """Return the state of `view` for the browser."""
    leads, page = address.leads(session, view), address.page_payload(session)
    main = address.main_view(session) if leads and view.id != MAIN else None
    told = main or view
    left_out = leads and page["parameters"].get(inputs.SENTENCE) is None
    return {
        "id": view.id,
        "room": view.key("room"),
        "identity": view.identity,
        "family": _digest(tried_in(session, view.id).identity or view.trace.source_text),
        "steps": view.steps,
        "sources": len(view.trace.source_pieces),
        "tourable": tour and view.id == MAIN and can_be_toured(view),
        "usualOrder": "strongest" if len(view.trace.source_pieces) > MOST_ROWS else "sentence",
        "parameters": browser_parameters(view),
        "own": address.own_parameters(session, view),
        "page": page if leads else None,
        "sentence": {inputs.SENTENCE: told.trace.source_text} if left_out else None,
        "main": view_payload(session, main) if main else None,
    }
