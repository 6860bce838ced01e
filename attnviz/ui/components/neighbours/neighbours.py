"""The vectors of a corpus nearest to one of the step on show: each a piece in its sentence, which a click opens."""

from __future__ import annotations

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import View


def neighbour_list(view: View, at: str, *, waiting: str) -> None:
    """Draw the list, whose record lies at the address `at`; `waiting` stands in its place until it is there.

    A record has a `heading`, `kind`, the colour of the pieces, the languages `spoken` by their sentences and the other
    side, and `entries`: how `near`, the sentence in parts, `before`, `marked`, `after`, the `other` side, and the
    address that it is opened at, `to`.
    """
    component("neighbours", isolate=False)(key=view.key("neighbours"), data={"at": at, "waiting": waiting})
