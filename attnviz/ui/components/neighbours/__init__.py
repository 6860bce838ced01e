"""Mount the nearest vectors of a corpus to one of the current step: each a piece in its sentence, opened by a click."""

from __future__ import annotations

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import View


def neighbour_list(view: View, at: str, *, waiting: str) -> None:
    """Draw the list from the payload at the address `at`; `waiting` is shown until it has loaded.

    A payload has `heading`, `kind` (the colour of the pieces), `spoken` (the languages of both sides) and `entries`.
    Each entry has `near` (its similarity), `before`, `marked` and `after` (the parts of its sentence), `other` (the
    other side) and `to` (the address that opens it).
    """
    component("neighbours", isolate=False)(key=view.key("neighbours"), data={"at": at, "waiting": waiting})
