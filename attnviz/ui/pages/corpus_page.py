"""Entry point of the page *Corpus*: many sentence pairs, measured; a click opens a pair's step view.

Functions import what reads tables: the server loads the modules of all pages at its start, and the others need no
pyarrow.
"""

from __future__ import annotations

import streamlit as st

from attnviz.extras import IMPORTING
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.ui.chrome import Page
from attnviz.ui.toolbar.shown_translation import current_request


def _draw() -> None:
    with IMPORTING:
        from attnviz.ui.pages.corpus_sections import corpus_page
        from attnviz.ui.pages.corpus_table import open_choices

    open_choices()
    if request := current_request():
        corpus_page(str(installed_models()[request.model]))
    else:
        st.text(gettext("Add a model folder: a model is needed to measure sentence pairs."))


# A link that names no table shows the current one.
CORPUS_PAGE = Page("corpus", lambda: gettext("Corpus"), _draw, keeps_choices=lambda linked: not linked.get("table"))
