"""Draw the page *To the transformer*: sentence, row of weights, the open exhibit, its tables and downloads.

An exhibit is a section of figures: on dot products, a judged sentence pair, several heads, or all five models. The
server computes only the open one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import cast

import streamlit as st

from attnviz import AttnvizError, Trace
from attnviz.analysis.attention_forms import EQUATION_LINES, exhibit_equation
from attnviz.analysis.page_texts import EXHIBIT_REFERENCES, ExhibitName, exhibit_section, exhibits_introduction
from attnviz.export.saved_files import file_name
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.ui.chrome import Page
from attnviz.ui.components.component import box, message, section_heading, view_blocks
from attnviz.ui.components.tables import chart_tables
from attnviz.ui.embedded_view import drawn_page
from attnviz.ui.embedding import page_session, theme_name
from attnviz.ui.glossary import glossary_box, opening, references, text_section
from attnviz.ui.page_state import linked
from attnviz.ui.page_state.linked import linked_entry
from attnviz.ui.payloads import PayloadRequest, Shown, UnknownPayloadError, makes_payload
from attnviz.ui.requests import on_request, request_button
from attnviz.ui.step.stage_panels import inline_equation
from attnviz.ui.step.step_controls import view_state
from attnviz.ui.toolbar.controls import current_request, sentence_box
from attnviz.ui.toolbar.downloads import copy_link, offers, page_downloads
from attnviz.ui.toolbar.shown_translation import open_view, shown_translation
from attnviz.ui.transformer import Exhibit, SentenceRequest
from attnviz.ui.transformer.attention_row import ATTENTION_ROW, draw_row
from attnviz.ui.transformer.five_models import FIVE_MODELS
from attnviz.ui.transformer.heads_exhibit import HEADS_EXHIBIT
from attnviz.ui.transformer.pair import FRENCH, PAIR_EXHIBIT
from attnviz.ui.view import View

EXHIBIT_PARAMETER = "exhibit"
"""Session state key and address parameter of the open exhibit, and name of the request to open or close one."""
EXHIBITS: Mapping[str, Exhibit] = {
    "dot": ATTENTION_ROW,
    "pair": PAIR_EXHIBIT,
    "heads": HEADS_EXHIBIT,
    "answers": FIVE_MODELS,
}
"""By their names in the address, in the order of the page."""
offers("exhibit", {name: exhibit.offered for name, exhibit in EXHIBITS.items()})


def _open_exhibit_name() -> str:
    """Return the name of the open exhibit, empty where none is, after following the link and the requests."""
    linked_entry(EXHIBIT_PARAMETER, None, offered=tuple(EXHIBITS), noted=True)
    parameters = [exhibit.parameter for exhibit in EXHIBITS.values() if exhibit.parameter]
    for name in parameters:
        linked_entry(name, None)
    linked.add_parameters(dict.fromkeys((*parameters, FRENCH)))
    on_request(EXHIBIT_PARAMETER, _store_exhibit_name)
    chosen = page_session()[EXHIBIT_PARAMETER]
    return str(chosen) if chosen in EXHIBITS else ""


def _store_exhibit_name(name: object) -> None:
    page_session()[EXHIBIT_PARAMETER] = name if name in EXHIBITS else None


_Made = tuple[View, Shown]
"""The view of an exhibit, and what else it shows."""


def _made(exhibit: Exhibit, request: SentenceRequest, name: str, main: View | None) -> _Made | None:
    """Return what an exhibit makes, in place of the page's `main` view, or draw the reason why it cannot."""
    try:
        with st.spinner(gettext("Translating…")):
            view, shown = exhibit.make(request)
    except AttnvizError as error:
        message(str(error), f"transformer_problem_{name}")
        return None
    return replace(view, main=main), shown


def _draw_exhibit(view: View, exhibit_shown: Shown, exhibit_name: str, trace: Trace) -> None:
    """Draw an exhibit with its text, its tables and its downloads, in the room of its view."""
    name, shown = cast("ExhibitName", exhibit_name), {"trace": trace, **exhibit_shown}
    _exhibit_figures(view, shown, name)
    chart_tables(view, "exhibit-tables", shown, part=name)
    page_downloads(view, "exhibit", shown, name, file_name(trace, f"{name}.html"))


def _exhibit_figures(view: View, shown: Shown, name: ExhibitName) -> None:
    """Draw the text, the figures and the equation of an exhibit."""
    with box(f"exhibit_{name}"):  # the row scrolls to it: see components/attention_row
        text_section(exhibit_section(name))
    EXHIBITS[name].draw(view, shown)
    if EQUATION_LINES[name]:
        with box(view.key("equations")):
            section_heading(gettext("How the equations change"))
            inline_equation(view, exhibit_equation(name, theme_name()), "equations")


def _write_address(view: View, exhibit_name: str) -> None:
    """Write the parameters of the page into the address, which `view` provides; each exhibit has its history entry."""
    main_identity, exhibit = view.main.identity if view.main else "", EXHIBITS.get(exhibit_name)
    parameters: linked.Parameters = {EXHIBIT_PARAMETER: exhibit_name or None}
    if exhibit and exhibit.parameter:
        parameters[exhibit.parameter] = page_session()[exhibit.parameter]
    linked.set_page_address(f"{main_identity} {exhibit_name} {view.identity}", parameters)


@makes_payload("exhibit-lecture")
def exhibit_lecture(asked: PayloadRequest) -> bytes:
    """Return an exhibit as a file."""
    name, view = cast("ExhibitName", asked.part), asked.view
    if name not in EXHIBITS:
        raise UnknownPayloadError(name)

    def draw() -> None:
        opening("transformer", exhibits_introduction())
        with box(view.key("room")):
            _exhibit_figures(view, asked.shown, name)
            if EXHIBITS[name] is ATTENTION_ROW:  # on the page, the row of weights has it
                view_state(view)
        references(EXHIBIT_REFERENCES)

    title = f"attnviz: {gettext('To the transformer')}"
    return drawn_page(title, f"{name}-{view.identity[:16]}", draw, view.steps)


def _draw() -> None:
    available = installed_models()
    opening("transformer", exhibits_introduction())
    if available:
        with st.container(key="transformer_sentence"):
            sentence_box(available)
    request = current_request()
    shown = shown_translation(request)
    if shown.view is None:
        return
    open_view(shown.view, shown.request)
    settings = (request.device, request.beam) if request else ()
    with view_blocks("transformer_view"), box("transformer_blocks"):
        _row_and_exhibit(SentenceRequest(shown.view, *settings))


def _row_and_exhibit(request: SentenceRequest) -> None:
    """Draw the row of weights for the sentence of `request`, and below it the exhibit that is open."""
    exhibit_name = _open_exhibit_name()
    exhibit = EXHIBITS.get(exhibit_name)
    waiting, row_place, exhibit_place = st.empty(), box("transformer_row"), box("transformer_exhibit")
    with row_place, waiting:
        row = _made(ATTENTION_ROW, request, "row", main=request.view)
    opened = None
    if exhibit and exhibit is not ATTENTION_ROW:  # which shares the view of the row
        with exhibit_place, waiting:
            opened = _made(exhibit, request, "exhibit", main=None if row else request.view)
    provider = next((view for view, _ in filter(None, (row, opened))), None)
    if provider:  # before the row is drawn, which sends the address
        _write_address(provider, exhibit_name)
    if row:
        with row_place, box(row[0].key("room")):  # components/view.js stores the view's state on this element
            draw_row(*row, exhibit_name)
            if exhibit is ATTENTION_ROW:
                _draw_exhibit(*row, exhibit_name, request.view.trace)
    if opened:
        with exhibit_place, box(opened[0].key("room")):
            _draw_exhibit(*opened, exhibit_name, request.view.trace)
    with box("transformer_foot", row=True):
        is_open = exhibit_name == "answers"
        label = gettext("Close the comparison" if is_open else "Compare all five models")
        request_button(label, partial(_store_exhibit_name, "" if is_open else "answers"), key="compare_models")
        if provider:
            copy_link(provider.key("copy_link"))
        glossary_box("signs", "attention", "heads", "learning", "scores")
    references(EXHIBIT_REFERENCES)


TRANSFORMER_PAGE = Page("transformer", lambda: gettext("To the transformer"), _draw, shows_sentence=True)
