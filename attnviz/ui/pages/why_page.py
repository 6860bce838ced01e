"""The page *Why attention?*: a growing sentence, BLEU by length, the current sentence in three models.

Below are the gradients of these models, their tables, and the downloads (figures, and the page as a file).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz import AttnvizError, Trace
from attnviz.analysis import page_texts
from attnviz.analysis.page_texts import WHY_REFERENCES, TextSection
from attnviz.analysis.why_attention import prefixes
from attnviz.export.saved_files import file_name
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.ui.chrome import Page
from attnviz.ui.components.component import Box, box, details, plain_text, view_blocks
from attnviz.ui.components.picture_files import picture_files
from attnviz.ui.components.tables import tables, tables_payload
from attnviz.ui.embedded_view import drawn_page
from attnviz.ui.glossary import glossary_box, references, text_section
from attnviz.ui.payloads import PayloadRequest, makes_payload, shown_address
from attnviz.ui.resources import translate
from attnviz.ui.step.step_controls import view_state
from attnviz.ui.toolbar.controls import (
    TranslationRequest,
    current_request,
    own_translation,
    request_address,
    sentence_box,
)
from attnviz.ui.toolbar.downloads import (
    OfferedFigure,
    copy_link,
    download_box,
    offer_lecture,
    offer_pictures,
    picture_file,
)
from attnviz.ui.toolbar.shown_translation import open_view, shown_translation
from attnviz.ui.view import View, view_key
from attnviz.ui.why.sentence_length_section import (
    by_length_panel,
    by_length_pictures,
    choose_sentence,
    growth_panel,
    growth_pictures,
    no_judge_reason,
)
from attnviz.ui.why.three_models_section import (
    MODELS,
    Trio,
    forced_panel,
    forced_pictures,
    judge_model,
    missing_models_reason,
    share_panel,
    signals_panel,
    signals_pictures,
    translate_trio,
    translation_tables,
    translations_panel,
)

TRANSLATIONS, GROWTH = "why", "length"
"""Ids of the page's views: the three translations, and the growing sentence."""


def why_page(trio: Trio, main_view: View, result: DeltaGenerator) -> None:
    """Draw the page for the sentence of `trio`, and the growing sentence in the container `result`.

    The address includes the parameters of `main_view`, of other pages.
    """
    view = View(TRANSLATIONS, trio.longest, main=main_view)
    with result, view_blocks("why_growth_view"), box("why_growth"):
        growth_trace = _growth_section(trio)
    with view_blocks(view.key("view")), box(view.key("room")):  # components/view.js stores its state on this element
        _trio_sections(view, trio)
        _footer(view, trio, growth_trace)


def _trio_sections(view: View, trio: Trio) -> None:
    """Draw the sections about three translations of one sentence."""
    by_length_panel(view, trio)
    with _opened(view, "translations", section := page_texts.translations_section()):
        text_section(section, heading=False)
        translations_panel(view, trio)
    section = page_texts.forced_section(trio.reference.model, trio.origin)
    with _opened(view, "forced", section):
        text_section(section, trio.reference.translation, heading=False)
        forced_panel(view, trio)
    with _opened(view, "gradients", section := page_texts.gradient_section()):
        text_section(section, heading=False)
        share_panel(view, trio)
        paths = page_texts.gradient_paths_section()
        with details(paths.heading, view.key("signal_paths")):
            text_section(paths, heading=False)
            signals_panel(view, trio)
    view_state(view)


def _opened(view: View, name: str, section: TextSection) -> Box:
    """Return a box that a visitor opens by the heading of `section`."""
    return details(section.heading, view.key(f"section_{name}"), lead=section.lead)


def _growth_section(trio: Trio) -> Trace | None:
    """Draw the growing sentence; return a model's translation of it, or None where there is no judge."""
    judge_name = judge_model()
    if judge_name is None:
        plain_text(no_judge_reason())
        return None
    text_section(page_texts.growth_section())
    room = box(view_key(GROWTH, "room"))  # the choice of the sentence is below, but decides what is in it
    sentence = choose_sentence(trio.reference.source_text)
    with st.spinner(gettext("Translating…")):
        trace = translate(str(installed_models()[MODELS[-1]]), trio.reference.device, sentence, 5, None)
    with room:
        _growth_view(trace, judge_name)
    return trace


def _growth_view(trace: Trace, judge_name: str) -> None:
    """Draw the growing sentence that a model has translated whole as `trace`."""
    count = len(prefixes(trace.source_text))
    view = View(GROWTH, trace, first_step=count - 1, step_count=count)
    growth_panel(view, judge_name)
    view_state(view)


def _footer(view: View, trio: Trio, growth_trace: Trace | None) -> None:
    """Draw downloads, tables and references."""
    shown = {"trio": trio, "growth": growth_trace}
    with box("why_foot", row=True):
        with download_box("downloads"):
            offer_pictures(view, "why-pictures", shown)
            offer_lecture(view, "why-lecture", shown, file_name(trio.reference, "why.html"))
        copy_link(view.key("copy_link"))
    with details(gettext("The charts as tables"), view.key("tables")):
        tables(view, shown_address("why-tables", shown), "tables_rows")
    references(WHY_REFERENCES)


@makes_payload("why-tables")
def why_tables_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the numbers in the figures of the page."""
    trio: Trio = request.shown["trio"]
    charts = [picture.table for picture in why_pictures(trio, request.shown["growth"])]
    return tables_payload([*charts, *translation_tables(trio)])


def why_pictures(trio: Trio, growth_trace: Trace | None) -> Iterator[OfferedFigure]:
    """Yield the figures of the page as they are saved."""
    if growth_trace is not None:
        yield from growth_pictures(growth_trace)
    for pictures in (by_length_pictures, forced_pictures, signals_pictures):
        yield from pictures(trio)


@makes_payload("why-pictures", needs_server=True)
def why_picture_files(request: PayloadRequest) -> dict[str, Any] | bytes:
    """Return the payload of the figures of the page as files."""
    trio: Trio = request.shown["trio"]
    pictures = why_pictures(trio, request.shown["growth"])
    return picture_files((picture_file(trio.reference, picture) for picture in pictures), request.parameters)


@makes_payload("why-lecture")
def why_lecture(request: PayloadRequest) -> bytes:
    """Return the page as a file."""
    trio, growth = request.shown["trio"], request.shown["growth"]
    view, judge_name = View(TRANSLATIONS, trio.longest), judge_model()

    def draw() -> None:
        with box("why_opening"):
            text_section(page_texts.why_introduction())
        if growth is not None and judge_name is not None:
            with box("why_growth"):
                text_section(page_texts.growth_section())
                with box(view_key(GROWTH, "room")):
                    _growth_view(growth, judge_name)
        with box(view.key("room")):
            _trio_sections(view, trio)
        references(WHY_REFERENCES)

    name = f"why-{trio.reference.fingerprint[:16]}"
    title = f"attnviz: {gettext('Why attention?')}"
    return drawn_page(title, name, draw, view.steps)


def _draw() -> None:
    available = installed_models()
    with view_blocks("why_introduction"), box("why_opening"):
        text_section(page_texts.why_introduction())
    result, request = st.container(key="why_result"), None
    if available:
        with st.container(key="why_sentence"):
            st.html(f'<h2 class="section">{gettext("Your sentence")}</h2>')
            sentence_box(available)
    with st.container(horizontal=True, key="why_ways"):
        if available:
            with st.popover(gettext("Force another translation"), type="tertiary", key="own"):
                own_translation()
            request = current_request(available)
        with view_blocks("terms", width="content"):
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


def _trio(view: View, request: TranslationRequest | None) -> Trio | None:
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


WHY_PAGE = Page("why", lambda: gettext("Why attention?"), _draw, shows_sentence=True)
