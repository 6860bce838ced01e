"""The page *Translate*: a sentence, the step view of its translation or of imported attention, or a lesson."""

from __future__ import annotations

from dataclasses import replace

from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.ui.chrome import Page
from attnviz.ui.components.component import view_blocks
from attnviz.ui.lab.compared_translation import show_beside
from attnviz.ui.page_state.inputs import page_detail_level
from attnviz.ui.resources import tokenizer_of, translate, weights_of
from attnviz.ui.step.step_view import step_view
from attnviz.ui.toolbar.controls import (
    controls,
    default_request,
    request_address,
    tour_button,
)
from attnviz.ui.toolbar.downloads import share_and_save
from attnviz.ui.toolbar.open_lesson import current_lesson, draw_lesson
from attnviz.ui.toolbar.shown_translation import open_view, run_summary, shown_translation, status
from attnviz.ui.view import shows


def cache_default_translation() -> None:
    """Translate the default sentence, so that it is cached before a visitor comes; raise AttnvizError if it fails."""
    if available := installed_models():
        request = default_request(available)
        trace = translate(request.folder, request.device, request.text, request.beam, request.target)
        weights_of(trace)
        tokenizer_of(trace)


def _draw() -> None:
    if lesson := current_lesson():
        draw_lesson(lesson)
        return
    available = installed_models()
    drawn = controls(available)
    request = drawn.request
    shown = shown_translation(request, back=bool(request), steps=True)
    view = None
    if shown.view:
        view = replace(shown.view, detail_level=page_detail_level(), show_beside=show_beside)
        open_view(view, request_address(request, available) if shown.asked and request else None)
        if view.trace.translated:
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
        with view_blocks(view.key("view")):
            step_view(view)


TRANSLATE_PAGE = Page("", lambda: gettext("Translate"), _draw, shows_sentence=True)
