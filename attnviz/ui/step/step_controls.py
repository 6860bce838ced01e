"""Lay out the player, the cards of the what-ifs and the list of keyboard shortcuts, and send the browser the state."""

from __future__ import annotations

from typing import Any

from attnviz.analysis.what_if_effects import what_ifs_payload
from attnviz.languages import gettext, language
from attnviz.trace import WhatIfs
from attnviz.trace.what_ifs import with_descendants
from attnviz.ui.components.component import box, component, html, popover_box
from attnviz.ui.components.player import PlayedLanguages, player
from attnviz.ui.components.view_state import view_state
from attnviz.ui.embedding import embedding
from attnviz.ui.fields import by_unit
from attnviz.ui.glossary import Topic, definitions, glossary
from attnviz.ui.resources import has_posterior
from attnviz.ui.step.intervention_controls import slider_labels
from attnviz.ui.step.suspected_errors_panel import suspected_error_payloads
from attnviz.ui.view import View


def what_if_cards(view: View) -> None:
    """Draw the what-ifs of `view`, at *Idea* with their cards in a closed drawer; hidden where there are none.

    The component is always mounted, so that the first what-if's card appears without delay.
    """
    payload = cards_payload(view.what_ifs, view.number) | {"folded": view.simple}
    component("what_ifs", key=view.key("what_if_cards"), data=payload)


def cards_payload(what_ifs: WhatIfs | None, number: int) -> dict[str, Any]:
    """Return the payload of the cards, with `number` current; no cards where there are no what-ifs.

    The what-ifs of an embedded view stay: nothing removes them.
    """
    if what_ifs is None or not what_ifs.what_ifs:
        return {"language": language(), "cards": [], "current": 0, "words": {}}
    others = [0, *(len(with_descendants(what_ifs.what_ifs, k + 1)) - 1 for k in range(len(what_ifs.what_ifs)))]
    texts, can_remove = what_ifs_payload(what_ifs), embedding() is None
    words = texts["words"] if can_remove else texts["words"] | {"undo": ""}
    cards = [
        card | {"remove": _remove(k, others[k]) if k and can_remove else ""} for k, card in enumerate(texts["cards"])
    ]
    return {"language": language(), "current": number, "words": words, "cards": cards}


def _remove(number: int, others: int) -> str:
    """Return the label of the button that removes a what-if and `others` that derive from it."""
    if others:
        return gettext("Remove what-if {number} and the what-ifs made from it ({others})", number=number, others=others)
    return gettext("Remove what-if {number}", number=number)


def step_controls(
    view: View, pair: PlayedLanguages | None = None, *, tour: bool = False, what_ifs: bool = True
) -> None:
    """Draw the sentences, the step controls and, unless they have another place, the what-ifs.

    `pair` describes sentences other than English and French. With `tour`, the tour of the translation can be started.
    """
    player_box = box(view.key("player_box"))
    if what_ifs:
        what_if_cards(view)
    view_state(view, tour=tour)
    with player_box:
        player(view, suspected_error_payloads(view), pair)


def _column_name(view: View) -> str:
    """Return the name of what a column of the heatmap stands for, as HTML."""
    if not view.trace.translated:
        word, piece = gettext("source word"), gettext("source piece")
    else:
        word, piece = gettext("English word"), gettext("English piece")
    return by_unit(word, piece)


def key_help(view: View, *topics: Topic, common_only: bool = False, has_stages: bool = False) -> None:
    """Draw a box with the terms of `topics` and the keyboard shortcuts, or only those of every page; ? opens it."""
    shortcuts = {
        "←</kbd><kbd>→": gettext("step"),
        "↑</kbd><kbd>↓": _column_name(view),
        f"{gettext('Home')}</kbd><kbd>{gettext('End')}": gettext("first, last step"),
        "B": gettext("attention before or after the word is known, or their difference"),
        gettext("Space"): gettext("play, pause"),
        gettext("Esc"): gettext("deselect the word and follow the largest weight"),
        gettext("Enter"): gettext("translate"),
        "Tab</kbd> <kbd>←</kbd><kbd>→": gettext("in a sentence: another word; on a bar: change its weight"),
        "Tab</kbd> <kbd>↑</kbd><kbd>↓": gettext("select another weight bar"),
        "S": gettext("next stage"),
        "L": gettext("lecture mode, for a projector"),
    }
    if not view.trace.attends:
        shortcuts.pop("↑</kbd><kbd>↓")
        shortcuts.pop(gettext("Esc"))
    if slider_labels(view.trace) is None:
        shortcuts["Tab</kbd> <kbd>←</kbd><kbd>→"] = gettext("select another word of a sentence")
        shortcuts.pop("Tab</kbd> <kbd>↑</kbd><kbd>↓")
    if not has_stages:
        shortcuts.pop("S")
    if common_only or not has_posterior(view.trace):
        shortcuts.pop("B")
    if embedding() is not None:
        shortcuts.pop("L")
    if common_only or embedding() is not None:
        shortcuts.pop(gettext("Enter"))
    spans = "".join(f"<span><kbd>{keys}</kbd> {what}</span>" for keys, what in shortcuts.items())
    click = (
        gettext("or click a cell, a word, a bar or a strip")
        if view.trace.attends
        else gettext("or click a French word")
    )
    keys = f'<div class="keys">{spans}<span>{click}</span></div>'
    if not topics:
        with popover_box(gettext("Keys (?)"), view.key("keys")):
            html(keys)
        return
    with popover_box(gettext("What the words mean, and keys (?)"), view.key("glossary")):
        html(keys)
        definitions(view.key("glossary_terms"), glossary(*topics))
