"""The page *Translate*: a sentence, its translation, and one decoder step at a time."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from attnviz.languages import say
from attnviz.ui.page_state import address
from attnviz.ui.resources import models, tokenizer_of, translate, weights_of
from attnviz.ui.step.room import step_room
from attnviz.ui.toolbar import reopening
from attnviz.ui.toolbar.controls import controls, opening_request, request_address
from attnviz.ui.toolbar.dial import dial
from attnviz.ui.toolbar.downloads import downloads
from attnviz.ui.toolbar.translation import follow_link, open_shown, status, translation_on_show


def page() -> StreamlitPage:
    """Return the page as the navigation knows it; it stands at the root address."""
    return st.Page(_draw, title=say("Translate"), url_path="", default=True)


def translate_opening() -> None:
    """Make what a visitor who has no link is shown, where there is a model; raise AttnvizError where it is damaged."""
    if available := models():
        request = opening_request(available)
        trace = translate(request.folder, request.device, request.text, request.beam, request.target)
        weights_of(trace)
        tokenizer_of(trace)


def _draw() -> None:
    if address.went_through_history():
        follow_link()
    available = models()
    request, beside = controls(available) if available else (None, st.container(key="beside", horizontal=True))
    shown = translation_on_show(request, back=bool(request))
    view = shown.view
    with beside:
        depth = dial()
        if not available:
            reopening.opener()
        if view:
            open_shown(view, request_address(request, available) if shown.asked and request else None)
            downloads(view)
            if shown.asked:
                status(view)
    if view:
        step_room(view, depth)
