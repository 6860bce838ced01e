"""The page *Why attention?*: a growing sentence, BLEU by length, the current sentence in three models.

Below are the gradients of these models, their tables, and the downloads (figures, and the page as a file).
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from attnviz import AttnvizError, Trace
from attnviz.analysis import page_texts
from attnviz.analysis.page_texts import WHY_REFERENCES, TextSection
from attnviz.export.saved_files import file_name
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.ui.chrome import Page
from attnviz.ui.components.chart import computed_chart
from attnviz.ui.components.component import Box, box, details, message, plain_text, view_blocks
from attnviz.ui.components.side_by_side import lanes
from attnviz.ui.components.tables import chart_tables
from attnviz.ui.embedded_view import drawn_page
from attnviz.ui.glossary import glossary_box, opening, references, text_section
from attnviz.ui.payloads import PayloadRequest, makes_payload
from attnviz.ui.resources import translate
from attnviz.ui.step.step_controls import view_state
from attnviz.ui.toolbar.controls import current_request, own_translation, sentence_box
from attnviz.ui.toolbar.downloads import copy_link, page_downloads
from attnviz.ui.toolbar.shown_translation import open_view, shown_translation
from attnviz.ui.view import View, view_key
from attnviz.ui.why import (
    GROWTH,
    MODELS,
    Trio,
    by_length_panel,
    choose_sentence,
    growing_sentence,
    judge_model,
    no_judge_reason,
    own_translations_payload,
    translate_trio,
    trio_stamp,
)

TRANSLATIONS = "why"
"""Id of the view of the three translations."""


def _trio_sections(view: View, trio: Trio) -> None:
    """Draw the sections about three translations of one sentence."""
    computed = partial(computed_chart, view, trio.reference, version=trio_stamp())
    by_length_panel(view, trio)
    with _opened(view, "translations", page_texts.translations_section()):
        lanes(view, own_translations_payload(trio.own))
    section = page_texts.forced_section(trio.reference.model, trio.origin)
    with _opened(view, "forced", section, trio.reference.translation):
        computed("forced-words", "forced_words")
    with _opened(view, "gradients", page_texts.gradient_section()):
        computed("gradient-share", "gradient_share")
        paths = page_texts.gradient_paths_section()
        with details(paths.heading, view.key("signal_paths")):
            text_section(paths, heading=False)
            computed("signals")
    view_state(view)


def _opened(view: View, name: str, section: TextSection, french: str = "") -> Box:
    """Draw a box that a visitor opens by the heading of `section`, with its text; return it."""
    opened = details(section.heading, view.key(f"section_{name}"), lead=section.lead)
    with opened:
        text_section(section, french, heading=False)
    return opened


def _growth_section(trio: Trio) -> Trace | None:
    """Draw the growing sentence; return a model's translation of it, or None where there is no judge."""
    if judge_model() is None:
        plain_text(no_judge_reason())
        return None
    text_section(page_texts.growth_section())
    room = box(view_key(GROWTH, "room"))  # the choice of the sentence is below, but decides what is in it
    sentence = choose_sentence(trio.reference.source_text)
    with st.spinner(gettext("Translating…")):
        trace = translate(MODELS[-1], trio.reference.device, sentence, 5, None)
    with room:
        growing_sentence(trace)
    return trace


@makes_payload("why-lecture")
def why_lecture(request: PayloadRequest) -> bytes:
    """Return the page as a file."""
    trio, growth = request.shown["trio"], request.shown["growth"]

    def draw() -> None:
        opening("why", page_texts.why_introduction())
        if growth is not None and judge_model():
            with box("why_growth"):
                text_section(page_texts.growth_section())
                with box(view_key(GROWTH, "room")):
                    growing_sentence(growth)
        with box(request.view.key("room")):
            _trio_sections(request.view, trio)
        references(WHY_REFERENCES)

    name = f"why-{trio.reference.fingerprint[:16]}"
    title = f"attnviz: {gettext('Why attention?')}"
    return drawn_page(title, name, draw, request.view.steps)


def _draw() -> None:
    available = installed_models()
    opening("why", page_texts.why_introduction())
    result = st.container(key="why_result")
    if available:
        with st.container(key="why_sentence"):
            st.html(f'<h2 class="section">{gettext("Your sentence")}</h2>')
            sentence_box(available)
    with st.container(horizontal=True, key="why_ways"):
        if available:
            with st.popover(gettext("Force another translation"), type="tertiary", key="own"):
                own_translation()
        request = current_request()
        with view_blocks("terms", width="content"):
            glossary_box("signs", "attention", "learning", "scores")
    shown = shown_translation(request, back=False)
    if shown.view is None:
        return
    open_view(shown.view, shown.request)
    trace, settings = shown.view.trace, (request.device, request.beam) if request else ()
    forced = shown.view.number == 0 and trace.search.method == "forced"
    try:
        with st.spinner(gettext("Translating…")):
            trio = translate_trio(trace.source_text, trace.translation if forced else None, *settings)
    except AttnvizError as error:
        message(str(error), "why_problem")
        return
    view = View(TRANSLATIONS, trio.longest, main=shown.view)
    with result, view_blocks("why_growth_view"), box("why_growth"):
        growth = _growth_section(trio)
    with view_blocks(view.key("view")), box(view.key("room")):  # components/view.js stores its state on this element
        _trio_sections(view, trio)
        shown_here = {"trio": trio, "growth": growth, "trace": trio.reference}
        with box("why_foot", row=True):
            page_downloads(view, "why", shown_here, lecture=file_name(trio.reference, "why.html"))
            copy_link(view.key("copy_link"))
        chart_tables(view, "why-tables", shown_here, "")
        references(WHY_REFERENCES)


WHY_PAGE = Page("why", lambda: gettext("Why attention?"), _draw, shows_sentence=True)
