"""Draw the two sentences with the step controls and the what-ifs, and send the browser the view's state."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.languages import gettext, language
from attnviz.trace import WhatIfs
from attnviz.trace.what_ifs import with_descendants
from attnviz.ui.components.loader import component
from attnviz.ui.components.player import SentencePair, player
from attnviz.ui.components.view_state import view_state
from attnviz.ui.step.marks import view_marks
from attnviz.ui.view import View
from attnviz.wording.what_if import what_ifs_payload


def what_if_cards(view: View) -> None:
    """Draw the what-ifs of `view`, at *Idea* with their cards in a closed drawer; hidden where there are none.

    The component is always mounted, so that the first what-if's card appears without delay.
    """
    payload = cards_payload(view.what_ifs, view.number) | {"folded": not view.shows("numbers")}
    component("what_ifs")(key=view.key("what_if_cards"), data=payload)


def cards_payload(what_ifs: WhatIfs | None, number: int) -> dict[str, Any]:
    """Return the payload of the cards, with `number` current; no cards where there are no what-ifs."""
    if what_ifs is None or not what_ifs.what_ifs:
        return {"language": language(), "cards": [], "current": 0, "words": {}}
    others = [0, *(len(with_descendants(what_ifs.what_ifs, k + 1)) - 1 for k in range(len(what_ifs.what_ifs)))]
    texts = what_ifs_payload(what_ifs)
    cards = [card | {"remove": _remove(k, others[k]) if k else ""} for k, card in enumerate(texts["cards"])]
    return {"language": language(), "current": number, "words": texts["words"], "cards": cards}


def _remove(number: int, others: int) -> str:
    """Return the label of the button that removes a what-if and `others` that derive from it."""
    if others:
        return gettext("Remove what-if {number} and the what-ifs made from it ({others})", number=number, others=others)
    return gettext("Remove what-if {number}", number=number)


def step_controls(view: View, pair: SentencePair | None = None, *, tour: bool = False) -> None:
    """Draw the sentences, the step controls and the what-ifs.

    `pair` describes sentences other than English and French. With `tour`, the tour of the translation can be started.
    """
    player_box = st.container(key=view.key("player_box"))
    what_if_cards(view)
    view_state(view, tour=tour)
    with player_box:
        player(view, view_marks(view), pair)
