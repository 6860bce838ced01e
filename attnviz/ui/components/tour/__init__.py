"""Mount the guided tour: a card that explains a translation, and a highlight on the part of the page it is about."""

from __future__ import annotations

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import View


def tour_card(view: View, at: str) -> None:
    """Place the card of the tour of `view`; its stops are in the payload at the address `at`."""
    component("tour")(key=view.key("tour_card"), data={"at": at}, height=1)
