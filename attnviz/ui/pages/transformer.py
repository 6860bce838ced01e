"""Entry point of the page *To the transformer*: from additive attention to the transformer in four exhibits."""

from __future__ import annotations

import streamlit as st

from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.ui.chrome import Page
from attnviz.ui.text_sections import text_section
from attnviz.ui.toolbar.controls import current_request, request_address, sentence_box
from attnviz.ui.toolbar.translation import open_view, shown_translation
from attnviz.ui.transformer.exhibit import SentenceRequest
from attnviz.ui.transformer.transformer_page import transformer_view
from attnviz.wording import transformer_page


def _draw() -> None:
    available = installed_models()
    with st.container(key="transformer_opening"):
        text_section(transformer_page.opening())
    request = None
    if available:
        with st.container(key="transformer_sentence"):
            sentence_box(available)
        request = current_request(available)
    shown = shown_translation(request, back=False)
    if shown.view is None:
        return
    open_view(shown.view, request_address(request, available) if shown.asked and request else None)
    device, beam = (request.device, request.beam) if request else ("auto", 5)
    transformer_view(SentenceRequest(shown.view, device, beam))


page = Page("transformer", lambda: gettext("To the transformer"), _draw, shows_sentence=True)
