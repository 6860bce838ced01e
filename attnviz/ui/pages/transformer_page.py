"""Draw the page *To the transformer*: sentence, row of weights, the open exhibit, its tables and downloads.

An exhibit is a section of figures: on dot products, a judged sentence pair, several heads, or all five models. The
server computes only the open one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import streamlit as st

from attnviz import AttnvizError
from attnviz.analysis.attention_forms import EQUATION_LINES, exhibit_equation
from attnviz.analysis.page_texts import EXHIBIT_REFERENCES, ExhibitName, exhibit_section, exhibits_introduction
from attnviz.export.saved_files import file_name
from attnviz.installed_models import installed_models
from attnviz.languages import gettext
from attnviz.ui.chrome import Page
from attnviz.ui.components.component import box, html, plain_text, view_blocks
from attnviz.ui.components.picture_files import picture_files
from attnviz.ui.components.tables import table_box, tables_payload
from attnviz.ui.embedded_view import drawn_page
from attnviz.ui.embedding import page_session, theme_name
from attnviz.ui.glossary import glossary_box, references, text_section
from attnviz.ui.page_state import linked
from attnviz.ui.page_state.linked import linked_entry
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, makes_payload
from attnviz.ui.requests import on_request, request_button
from attnviz.ui.step.stage_payloads import inline_equation
from attnviz.ui.step.step_controls import view_state
from attnviz.ui.toolbar.controls import current_request, request_address, sentence_box
from attnviz.ui.toolbar.downloads import (
    copy_link,
    download_box,
    offer_lecture,
    offer_pictures,
    picture_file,
)
from attnviz.ui.toolbar.shown_translation import open_view, shown_translation
from attnviz.ui.transformer import attention_row, five_models, heads_exhibit, pair
from attnviz.ui.transformer.exhibit import Exhibit, SentenceRequest
from attnviz.ui.transformer.pair import SWAP, chosen_swap
from attnviz.ui.view import View

EXHIBIT_PARAMETER = "exhibit"
"""Session state key and address parameter of the open exhibit, and name of the request to open or close one."""
EXHIBITS: Mapping[str, Exhibit] = {
    "dot": attention_row.ATTENTION_ROW,
    "pair": pair.PAIR_EXHIBIT,
    "heads": heads_exhibit.HEADS_EXHIBIT,
    "answers": five_models.FIVE_MODELS,
}
"""By their names in the address, in the order of the page."""


def draw_transformer(request: SentenceRequest) -> None:
    """Draw the row of weights for the sentence of `request`, and below it the exhibit that is open."""
    exhibit_name = _open_exhibit_name()
    exhibit = EXHIBITS.get(exhibit_name)
    waiting, row_place, exhibit_place = st.empty(), box("transformer_row"), box("transformer_exhibit")
    with waiting, st.spinner(gettext("Translating…")):
        row, row_problem = _made(attention_row.make_view, request)
        row = row and replace(row, main=request.view)
    view, problem = row, ""
    if exhibit and exhibit.view_id != attention_row.VIEW_ID:
        with exhibit_place, waiting, st.spinner(gettext("Translating…")):
            view, problem = _made(exhibit.make_view, request)
        if view and not row:
            view = replace(view, main=request.view)
    if provider := row or view:  # before the row is drawn, which sends the address
        _write_address(provider, exhibit_name)
    with row_place:
        _problem(row_problem, "row")
        if row:
            with box(row.key("room")):  # components/view.js stores the view's state on this element
                attention_row.draw(row, request, exhibit_name)
                if exhibit and view is row:
                    _exhibit(row, exhibit, request, exhibit_name)
    with exhibit_place:
        _problem(problem, "exhibit")
        if exhibit and view and view is not row:
            with box(view.key("room")):
                _exhibit(view, exhibit, request, exhibit_name)
    with box("transformer_foot", row=True):
        is_open = exhibit_name == "answers"
        label = gettext("Close the comparison") if is_open else gettext("Compare all five models")
        request_button(label, partial(_store_exhibit_name, "" if is_open else "answers"), key="compare_models")
        if provider:
            copy_link(provider.key("copy_link"))
        glossary_box("glossary", "signs", "attention", "heads", "learning", "scores")
    references(EXHIBIT_REFERENCES)


def _open_exhibit_name() -> str:
    """Return the name of the open exhibit, empty where none is, after following the link and the requests."""
    session = page_session()
    linked_entry(EXHIBIT_PARAMETER, None, offered=tuple(EXHIBITS), noted=True)
    for name in (heads_exhibit.HEAD, SWAP):
        linked_entry(name, None)
    linked.add_parameters(dict.fromkeys((heads_exhibit.HEAD, pair.FRENCH, SWAP)))
    on_request(EXHIBIT_PARAMETER, _store_exhibit_name)
    return str(session[EXHIBIT_PARAMETER]) if session[EXHIBIT_PARAMETER] in EXHIBITS else ""


def _store_exhibit_name(name: object) -> None:
    page_session()[EXHIBIT_PARAMETER] = name if name in EXHIBITS else None


def _made(make_view: Callable[[SentenceRequest], View], request: SentenceRequest) -> tuple[View | None, str]:
    """Return the view that `make_view` makes, or None and the reason why it cannot."""
    try:
        return make_view(request), ""
    except AttnvizError as error:
        return None, str(error)


def _problem(text: str, name: str) -> None:
    if text:
        with box(f"transformer_problem_{name}"):
            plain_text(text)


def _exhibit(view: View, exhibit: Exhibit, request: SentenceRequest, exhibit_name: str) -> None:
    """Draw an exhibit with its text, its tables and its downloads, in the room of its view."""
    name = _as_exhibit_name(exhibit_name)
    _exhibit_figures(view, exhibit, request, name)
    shown = {"request": request, "swap": chosen_swap(request.sentence)}
    table_box(view, gettext("The charts as tables"), "tables", "exhibit-tables", shown, part=name)
    with download_box("downloads"):
        offer_pictures(view, "exhibit-pictures", shown, part=name)
        file = file_name(request.view.trace, f"{name}.html")
        offer_lecture(view, "exhibit-lecture", shown, file, part=name)


def _exhibit_figures(view: View, exhibit: Exhibit, request: SentenceRequest, name: ExhibitName) -> None:
    """Draw the text, the figures and the equation of an exhibit."""
    with box(f"exhibit_{name}"):  # the row scrolls to it: see components/attention_row
        text_section(exhibit_section(name))
    exhibit.draw(view, request)
    if EQUATION_LINES[name]:
        with box(view.key("equations")):
            html(f'<h2 class="section">{gettext("How the equations change")}</h2>')
            inline_equation(view, exhibit_equation(name, theme_name()), "equations")


def _as_exhibit_name(name: str) -> ExhibitName:
    return next(literal for literal in get_args(ExhibitName) if literal == name)


def _write_address(view: View, exhibit_name: str) -> None:
    """Write the parameters of the page into the address, which `view` provides; each exhibit has its history entry."""
    session, chosen = page_session(), {"heads": heads_exhibit.HEAD, "pair": SWAP}.get(exhibit_name)
    main_identity = view.main.identity if view.main else ""
    parameters: linked.Parameters = {EXHIBIT_PARAMETER: exhibit_name or None}
    if chosen:
        parameters[chosen] = session[chosen]
    linked.set_page_address(f"{main_identity} {exhibit_name} {view.identity}", parameters)


def _exhibit_of(asked: PayloadRequest) -> Exhibit:
    if asked.part not in EXHIBITS:
        raise UnknownPayloadError(asked.part)
    return EXHIBITS[asked.part]


@makes_payload("exhibit-tables")
def exhibit_tables_payload(asked: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the numbers in the figures of an exhibit."""
    exhibit = _exhibit_of(asked)
    charts = [picture.table for picture in exhibit.pictures(asked)]
    return tables_payload([*charts, *exhibit.tables(asked)])


@makes_payload("exhibit-pictures", needs_server=True)
def exhibit_pictures(asked: PayloadRequest) -> dict[str, Any] | bytes:
    """Return the payload of the figures of an exhibit as files."""
    trace = asked.shown["request"].view.trace
    return picture_files((picture_file(trace, one) for one in _exhibit_of(asked).pictures(asked)), asked.parameters)


@makes_payload("exhibit-lecture")
def exhibit_lecture(asked: PayloadRequest) -> bytes:
    """Return an exhibit as a file."""
    name, view, request = _as_exhibit_name(asked.part), asked.view, asked.shown["request"]

    def draw() -> None:
        page_session()[SWAP] = ".".join(str(index + 1) for index in asked.shown["swap"] or ())
        with box("transformer_opening"):
            text_section(exhibits_introduction())
        with box(view.key("room")):
            _exhibit_figures(view, EXHIBITS[name], request, name)
            if EXHIBITS[name].view_id == attention_row.VIEW_ID:  # on the page, the row of weights has it
                view_state(view)
        references(EXHIBIT_REFERENCES)

    title = f"attnviz: {gettext('To the transformer')}"
    return drawn_page(title, f"{name}-{view.identity[:16]}", draw, view.steps)


def _draw() -> None:
    available = installed_models()
    with view_blocks("transformer_introduction"), box("transformer_opening"):
        text_section(exhibits_introduction())
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
    with view_blocks("transformer_view"), box("transformer_blocks"):
        draw_transformer(SentenceRequest(shown.view, device, beam))


TRANSFORMER_PAGE = Page("transformer", lambda: gettext("To the transformer"), _draw, shows_sentence=True)
