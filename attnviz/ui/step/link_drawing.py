"""Draw the mode in which links are drawn on the heatmap: its switch, and the bar with their score, Undo and files.

The browser edits the links and sends each edit as the request "links" (`page_state.gold.set_drawn_links`).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from attnviz.analysis.gold import MOST_LINKS, GoldLinks, link_errors, linkable_words
from attnviz.export.attention_files import LINK_ENDINGS, attention_file_content, linked_record
from attnviz.export.files import file_name
from attnviz.languages import gettext, language
from attnviz.trace import Words
from attnviz.ui.components.loader import component
from attnviz.ui.fields import switch
from attnviz.ui.link import link
from attnviz.ui.page_state.gold import gold_of
from attnviz.ui.page_state.linked import linked_entry
from attnviz.ui.page_state.selection import Selection
from attnviz.ui.resources import has_posterior, posterior_of
from attnviz.ui.session_payloads import register_content, register_payload
from attnviz.ui.view import View
from attnviz.wording.attention_variants import face_names
from attnviz.wording.gold import drawing_texts, link_file_names

DRAW = "draw"
"""Session state key of the switch, and address parameter."""


def draws_links(view: View) -> bool:
    """Return whether the visitor draws links in `view`, which needs attention and the level *Numbers*."""
    if not view.shows("numbers") or not view.trace.attends:
        return False
    key = view.key(DRAW)
    linked_entry(st.session_state, link(), key, False, offered=("0", "1"), parse="1".__eq__)
    return st.session_state[key] is True


def link_drawing_switch(view: View) -> None:
    """Draw the switch of the mode."""
    switch(
        gettext("Draw links"),
        key=view.key(DRAW),
        parameter=view.key(DRAW),
        help=gettext(
            "Link the words yourself on the heatmap. The page then shows how far the attention agrees with your links."
        ),
    )


def link_drawing(view: View) -> None:
    """Draw the bar below the heatmap; its script puts the cells over the heatmap."""
    words, gold = view.trace.words(), gold_of(st.session_state, view) or GoldLinks()
    source, target = linkable_words(words)
    payload = {
        "language": language(),
        "view": view.id,
        "identity": view.identity,
        "heatmap": view.key("alignment"),
        "links": gold.text(),
        "source": source,
        "target": target,
        "sourceWords": _words_of_pieces(words.source_groups),
        "targetWords": _words_of_pieces(words.target_groups),
        "most": MOST_LINKS,
        "at": register_payload(view, "links_of_attention", "", partial(_links_of_attention, view), "options"),
        "files": [
            {
                "label": link_file_names()[ending],
                "at": register_content(
                    view.key(f"drawn_{ending}"),
                    f"{view.identity} {gold.text()}",
                    partial(_file_content, words, gold, ending),
                    in_every_language=True,
                ),
                "file": file_name(view.trace, f"links.{ending}"),
            }
            for ending in LINK_ENDINGS
        ],
        "words": drawing_texts(),
    }
    component("link_drawing", isolate=False)(key=view.key("link_drawing_bar"), data=payload)


def _words_of_pieces(groups: tuple[tuple[int, ...], ...]) -> list[int]:
    """Return the index of the word of each piece."""
    return [word for word, group in enumerate(groups) for _ in group]


def _links_of_attention(view: View, selection: Selection) -> dict[str, Any]:
    """Return the links of the attention that the heatmap shows; of the difference, those of the posterior."""
    words = view.trace.words()
    face = selection.choices.face if has_posterior(view.trace) else "before"
    shown = "before" if face == "before" else "after"
    shares = None if shown == "before" else words.merged(posterior_of(view.trace))
    return {"links": link_errors(words, GoldLinks(), shares).found, "face": face_names()[shown]}


def _file_content(words: Words, gold: GoldLinks, ending: str, _: Any) -> bytes:
    return attention_file_content([linked_record(words, gold)], ending)
