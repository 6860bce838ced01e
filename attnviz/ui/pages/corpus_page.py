"""Entry point of the page *Corpus*: many sentence pairs, measured; a click opens a pair's step view.

Functions import what reads tables: the server loads the modules of all pages at its start, and the others need no
pyarrow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.analysis.gold import GoldLinks
from attnviz.importing.records import AttentionRecords
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.ui.chrome import Page, go_to
from attnviz.ui.page_state import inputs
from attnviz.ui.page_state.gold_state import set_gold
from attnviz.ui.page_state.inputs import DETAIL_LEVEL, open_listed_pair
from attnviz.ui.page_state.linked import SENTENCE_PAGES, clear_entries, follow_link
from attnviz.ui.toolbar import opened_file
from attnviz.ui.toolbar.controls import current_request
from attnviz.ui.view import FilePair, GoldFile

if TYPE_CHECKING:
    from attnviz.ui.corpus.table import CorpusPair


def _draw() -> None:
    from attnviz.ui.corpus.corpus_sections import corpus_page
    from attnviz.ui.corpus.table import open_choices

    open_choices()
    available = installed_models()
    if not available:
        st.text(gettext("Add a model folder: a model is needed to measure sentence pairs."))
        return
    corpus_page(current_request(available).folder, _open_pair, _open_attention)


def _begin_translation() -> None:
    """Clear what the first page shows, except model and level of detail; nothing begins with the link of this page."""
    clear_entries(SENTENCE_PAGES, "", kept=(inputs.MODEL, DETAIL_LEVEL))
    follow_link({})


def _open_pair(pair: CorpusPair) -> None:
    """Show a pair on the first page, force-decoded by the model that measured it, with its gold links."""
    _begin_translation()
    open_listed_pair(pair.source, pair.target)
    if pair.gold:
        set_gold(pair.gold, pair.source_words, pair.target_words)
    go_to("")
    st.rerun()


def _open_attention(
    name: str,
    records: AttentionRecords,
    number: int,
    other: tuple[str, AttentionRecords] | None,
    gold: tuple[str, Sequence[GoldLinks | None]] | None,
) -> None:
    """Show a pair of an attention file on the first page, with its gold links and that of the `other` file."""
    _begin_translation()
    marked = GoldFile.scored(*gold) if gold else None
    opened = FilePair(name, records, number, other=other, gold=marked)
    opened_file.choose_attention(opened)
    go_to("")
    st.rerun()


def _keeps_choices(linked: Mapping[str, str]) -> bool:
    from attnviz.ui.corpus.table import has_no_table

    return has_no_table(linked)


CORPUS_PAGE = Page("corpus", lambda: gettext("Corpus"), _draw, keeps_choices=_keeps_choices)
