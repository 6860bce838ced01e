"""Entry point of the page *Why attention?*: the current sentence in three models that differ in their attention."""

from __future__ import annotations

import streamlit as st

from attnviz import AttnvizError
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.ui.chrome import Page
from attnviz.ui.glossary import glossary_box
from attnviz.ui.text_sections import text_section
from attnviz.ui.toolbar.controls import Request, current_request, own_translation, request_address, sentence_box
from attnviz.ui.toolbar.translation import open_view, shown_translation
from attnviz.ui.view import View
from attnviz.ui.why.three_models import Trio, missing_models_reason, translate_trio
from attnviz.ui.why.why_page import why_page
from attnviz.wording import why


def _draw() -> None:
    available = installed_models()
    with st.container(key="why_opening"):
        text_section(why.opening())
    result, request = st.container(key="why_result"), None
    if available:
        with st.container(key="why_sentence"):
            st.html(f'<h2 class="section">{gettext("Your sentence")}</h2>')
            sentence_box(available)
            with st.popover(gettext("Another translation to force"), type="tertiary", key="own"):
                own_translation()
        request = current_request(available)
    glossary_box("glossary", "signs", "attention", "learning", "scores")
    shown = shown_translation(request, back=False)
    if shown.view is None:
        return
    open_view(shown.view, request_address(request, available) if shown.asked and request else None)
    if message := missing_models_reason():
        with st.container(key="why_problem"):
            st.text(message)
        return
    if translations := _trio(shown.view, request):
        why_page(translations, shown.view, result)


def _trio(view: View, request: Request | None) -> Trio | None:
    """Return the three models' translations of the current sentence; on an error, show it and return None."""
    forced = view.number == 0 and view.trace.search.method == "forced"
    target = view.trace.translation if forced else None
    settings = (request.device, request.beam) if request else ("auto", 5)
    try:
        with st.spinner(gettext("Translating…")):
            return translate_trio(view.trace.source_text, target, *settings)
    except AttnvizError as error:
        with st.container(key="why_problem"):
            st.text(str(error))
        return None


page = Page("why", lambda: gettext("Why attention?"), _draw, shows_sentence=True)
