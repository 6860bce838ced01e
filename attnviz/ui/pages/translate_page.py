"""The page *Translate*: a sentence, the step view of its translation or of imported attention, or a lesson."""

from __future__ import annotations

from dataclasses import replace

from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.ui.chrome import Page
from attnviz.ui.components.component import view_blocks
from attnviz.ui.lab.comparison_section import show_beside
from attnviz.ui.page_state.inputs import page_detail_level
from attnviz.ui.resources import tokenizer_of, translate, weights_of
from attnviz.ui.step.step_view import step_view
from attnviz.ui.toolbar.controls import (
    controls,
    default_request,
    tour_button,
)
from attnviz.ui.toolbar.downloads import share_and_save
from attnviz.ui.toolbar.open_lesson import current_lesson, draw_lesson
from attnviz.ui.toolbar.shown_translation import open_view, run_summary, shown_translation, status


def cache_default_translation() -> None:
    """Translate the default sentence, so that it is cached before a visitor comes; raise AttnvizError if it fails."""
    if available := installed_models():
        request = default_request(available)
        trace = translate(request.model, request.device, request.text, request.beam, request.target)
        weights_of(trace)
        tokenizer_of(trace)


def _draw() -> None:
    if lesson := current_lesson():
        draw_lesson(lesson)
        return
    drawn = controls(installed_models())
    shown = shown_translation(drawn.request, steps=True)
    if shown.view is None:
        return
    view = replace(shown.view, detail_level=page_detail_level(), show_beside=show_beside)
    open_view(view, shown.request)
    if view.trace.translated:
        with drawn.tour:
            tour_button()
    with drawn.share:
        share_and_save(view)
    if shown.request:
        drawn.run.caption(run_summary(view))
        if view.shows("numbers"):
            with drawn.status:
                status(view)
    with view_blocks(view.key("view")):
        step_view(view)


TRANSLATE_PAGE = Page("", lambda: gettext("Translate"), _draw, shows_sentence=True)
