"""Draw the mode in which links are drawn on the heatmap: its switch, and the bar with their score, Undo and files.

The browser edits the links and sends each edit as the request "links" (`page_state.gold.set_drawn_links`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from attnviz.analysis.gold import MOST_LINKS, GoldLinks, PairLinks, link_errors, linkable_words
from attnviz.errors import AttnvizError
from attnviz.export.attention_files import LINK_ENDINGS, attention_file_content, linked_record
from attnviz.export.files import file_name
from attnviz.languages import gettext, language
from attnviz.trace import Attention, Words
from attnviz.ui.components.loader import component
from attnviz.ui.fields import switch
from attnviz.ui.link import link
from attnviz.ui.page_state.gold import drawn_identity, gold_of, links_of_pair, links_of_pairs
from attnviz.ui.page_state.linked import linked_entry
from attnviz.ui.page_state.selection import Selection
from attnviz.ui.resources import has_posterior, posterior_of
from attnviz.ui.session_payloads import register_content, register_payload
from attnviz.ui.view import FilePair, View
from attnviz.wording.attention_forms import face_names
from attnviz.wording.gold import drawing_texts, link_file_names

MOST_SAVED = 10_000
"""Largest number of pairs of a file whose links are saved together; a larger file would keep other visitors waiting."""
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
    """Draw the switch of the mode, which stands beside the title of the heatmap."""
    switch(
        gettext("Draw links yourself"),
        key=view.key(DRAW),
        parameter=view.key(DRAW),
        help=gettext(
            "You click the cells of the heatmap to link an English word with a French word; the page draws no links by "
            "itself. It then shows how far the attention agrees with your links."
        ),
    )


def link_drawing(view: View) -> None:
    """Draw the bar below the heatmap; its script puts the cells over the heatmap."""
    words, gold = view.trace.words(), gold_of(st.session_state, view) or GoldLinks()
    source, target = linkable_words(words)
    payload = {
        "language": language(),
        "view": view.id,
        "identity": drawn_identity(view),
        "heatmap": view.key("alignment"),
        "links": gold.text(),
        "source": source,
        "target": target,
        "sourceWords": _words_of_pieces(words.source_groups),
        "targetWords": _words_of_pieces(words.target_groups),
        "most": MOST_LINKS,
        "at": register_payload(view, "links_of_attention", "", partial(_links_of_attention, view), "options"),
        "files": _files(view, words, gold),
        "words": drawing_texts(*_place(view), of_file=not view.trace.translated),
    }
    component("link_drawing", isolate=False)(key=view.key("link_drawing_bar"), data=payload)


def _place(view: View) -> tuple[int, int]:
    """Return the number of the pair in its file, and the number of pairs."""
    return (view.file.number, view.file.count) if view.file else (1, 1)


def _files(view: View, words: Words, gold: GoldLinks) -> list[list[dict[str, str]]]:
    """Return the files of this pair and, where the view shows one of several pairs of a file, those of all pairs."""
    makers = [("", gold.text(), partial(_pair_content, words, gold, _place(view)[0]), file_name(view.trace, "links"))]
    if view.file and 1 < view.file.count <= MOST_SAVED:
        drawn = links_of_pairs(st.session_state)
        name = f"{view.file.key(0)} {sorted((pair, links.text()) for pair, links in drawn.items())}"
        makers.append(
            ("all_", name, partial(_all_content, view.file, drawn), f"attnviz-{Path(view.file.name).stem}-links")
        )
    return [
        [
            {
                "label": link_file_names()[ending],
                "at": register_content(
                    view.key(f"drawn_{kind}{ending}"), f"{drawn_identity(view)} {name}", partial(make, ending)
                ),
                "file": f"{file}.{ending}",
            }
            for ending in LINK_ENDINGS
        ]
        for kind, name, make, file in makers
    ]


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


def _pair_content(words: Words, gold: GoldLinks, number: int, ending: str, _: Any) -> bytes:
    return attention_file_content([linked_record(words, gold)], ending, number)


def _all_content(file: FilePair, drawn: Mapping[str, PairLinks], ending: str, _: Any) -> bytes:
    """Return the links of all pairs of a file: those that the visitor drew, else those that it has."""
    records = list[Attention | None]()
    for number in range(1, file.count + 1):
        try:
            record = file.record(number)
            linked = record and linked_record(record.words(), links_of_pair(file, number, record, drawn))
        except AttnvizError as error:
            raise AttnvizError(gettext("Pair {number}: {error}", number=number, error=str(error))) from error
        records.append(linked)
    return attention_file_content(records, ending)
