"""Mount the what-ifs of a translation: a card for each, with the words that differ and a link to it."""

from __future__ import annotations

from typing import Any

from attnviz.languages import gettext, language
from attnviz.trace import Branches
from attnviz.ui.components.loader import component
from attnviz.ui.page_state.branches import made_from
from attnviz.ui.page_state.view import View
from attnviz.wording.what_if import card_texts


def branch_cards(view: View) -> None:
    """Draw the cards of `view`; hidden where there are no what-ifs.

    The component is always mounted, so that the first what-if's card appears without delay.
    """
    component("branches")(key=view.key("branch_cards"), data=cards_record(view.branches, view.number))


def cards_record(branches: Branches | None, number: int) -> dict[str, Any]:
    """Return the payload of the cards, with `number` current; no cards where there are no what-ifs."""
    if branches is None or not branches.branches:
        return {"language": language(), "cards": [], "onShow": 0, "words": {}}
    others = [0, *(len(made_from(branches.branches, k + 1)) - 1 for k in range(len(branches.branches)))]
    texts = card_texts(branches)
    cards = [card | {"remove": _remove(k, others[k]) if k else ""} for k, card in enumerate(texts["cards"])]
    return {"language": language(), "onShow": number, "words": texts["words"], "cards": cards}


def _remove(number: int, others: int) -> str:
    """Return the label of the button that removes a what-if and `others` that derive from it."""
    if others:
        return gettext("Remove what-if {number}, and {others} made from it", number=number, others=others)
    return gettext("Remove what-if {number}", number=number)
