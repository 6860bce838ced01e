"""Entry point of the page *Translate*: a sentence, its translation, and one decoder step at a time."""

from __future__ import annotations

import streamlit as st

from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.ui.chrome import Page
from attnviz.ui.link import link
from attnviz.ui.page_state.parameters import has_tour
from attnviz.ui.resources import tokenizer_of, translate, weights_of
from attnviz.ui.step.step_view import step_view
from attnviz.ui.toolbar.controls import (
    controls,
    default_request,
    page_detail_level,
    request_address,
    tour_button,
    tour_offer,
)
from attnviz.ui.toolbar.downloads import share_and_save
from attnviz.ui.toolbar.lesson import current_lesson, lesson_view
from attnviz.ui.toolbar.translation import open_view, run_summary, shown_translation, status
from attnviz.ui.view import shows


def cache_default_translation() -> None:
    """Translate the default sentence, so that it is cached before a visitor comes; raise AttnvizError if it fails."""
    if available := installed_models():
        request = default_request(available)
        trace = translate(request.folder, request.device, request.text, request.beam, request.target)
        weights_of(trace)
        tokenizer_of(trace)


def _draw() -> None:
    if lesson := current_lesson(st.session_state, link()):
        lesson_view(lesson)
        return
    available = installed_models()
    drawn = controls(available)
    request = drawn.request
    shown = shown_translation(request, back=bool(request), steps=True)
    view = shown.view
    if view:
        open_view(view, request_address(request, available) if shown.asked and request else None)
        if has_tour(view):
            with drawn.tour:
                tour_button()
    with drawn.share:
        share_and_save(view)
    if view and shown.asked:
        drawn.run.caption(run_summary(view))
    if view and shown.asked and shows(page_detail_level(), "numbers"):
        with drawn.status:
            status(view)
    if view:
        step_view(view, page_detail_level())
        if has_tour(view):
            tour_offer()


page = Page("", lambda: gettext("Translate"), _draw, shows_sentence=True)
