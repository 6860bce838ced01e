"""Send the browser the server's part of a view's state: ids and sizes of its translation, and address parameters.

The current selection in it (step, source piece, words …) is known to the browser only.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import Any

from attnviz.architectures import step_texts
from attnviz.figures.grammar import MOST_ROWS
from attnviz.languages import gettext
from attnviz.ui.components.component import component
from attnviz.ui.embedding import embedding
from attnviz.ui.page_state import inputs, linked
from attnviz.ui.page_state.selection import browser_parameters, own_parameters
from attnviz.ui.page_state.what_if_state import WHAT_IF, stored_what_ifs
from attnviz.ui.view import MAIN, View


def view_state(view: View, *, tour: bool = False) -> None:
    """Send the browser the state of `view`; with `tour`, the tour can be started there."""
    component("view_state", key=view.key("view_state"), data=view_payload(view, tour=tour), height=1)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _terms(view: View) -> dict[str, Any]:
    """Return the terms that the sentences of `view` explain, at the level *Idea*, and the labels of their cards."""
    if view.shows("numbers"):
        return {"cards": [], "visit": ""}
    return {
        "cards": [asdict(card) for card in step_texts(view.trace).terms(view.trace)],
        "visit": gettext("Show this stage"),
    }


def view_payload(view: View, *, tour: bool = False) -> dict[str, Any]:
    """Return the state of `view` for the browser."""
    # In a page of others, the address is not ours.
    is_address_view = embedding() is None and (view.id == MAIN or view.main is not None)
    page = linked.page_payload()
    shown = view.main or view
    omits_sentence = is_address_view and page["parameters"].get(inputs.SENTENCE) is None
    return {
        "id": view.id,
        "container": view.key("room"),
        "request": view.key(WHAT_IF),
        "level": view.detail_level,
        "identity": view.identity,
        "family": _digest(stored_what_ifs(view.id).identity or view.trace.source_text),
        "steps": view.steps,
        "firstStep": view.first_step,
        "sources": len(view.trace.source_pieces),
        "hasTour": tour and view.id == MAIN and view.trace.translated,
        "usualOrder": "strongest" if len(view.trace.source_pieces) > MOST_ROWS else "sentence",
        "parameters": browser_parameters(view),
        "terms": _terms(view),
        "own": own_parameters(shown) if embedding() is None else {},
        "page": page if is_address_view else None,
        "sentence": {inputs.SENTENCE: shown.trace.source_text} if omits_sentence else None,
        "main": view_payload(view.main) if view.main and embedding() is None else None,
    }
