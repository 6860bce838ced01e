"""Draw the page *To the transformer* below its sentence (current exhibit, downloads), with the table of exhibits.

The server computes the current exhibit only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import get_args

import pandas as pd
import streamlit as st

from attnviz import AttnvizError
from attnviz.export.story import Chapter, Story
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.ui.components.copy_link import copy_link
from attnviz.ui.components.equation import inline_equation
from attnviz.ui.components.picture_files import PictureFile
from attnviz.ui.fields import segmented_control
from attnviz.ui.link import link
from attnviz.ui.page_state import address
from attnviz.ui.page_state.linked import linked_entry
from attnviz.ui.page_state.selection import Selection, source_of
from attnviz.ui.page_state.view import View
from attnviz.ui.step.data_tables import table_box
from attnviz.ui.style import theme_name
from attnviz.ui.text_sections import references, text_section
from attnviz.ui.toolbar.downloads import (
    download_box,
    file_name,
    offer_lecture,
    offer_pictures,
    picture_file,
    story_pictures,
)
from attnviz.ui.transformer import energies, five_models, heads, pair
from attnviz.ui.transformer.exhibit import Exhibit, ExhibitSelection, SentenceRequest
from attnviz.ui.transformer.word_swap import SWAP, chosen_swap
from attnviz.wording import transformer_page
from attnviz.wording.transformer_page import EQUATION_LINES, Rung, exhibit_equation, exhibit_titles

EXHIBIT_NAME = "rung"
"""Session state key and address parameter of the current exhibit, called a rung on the page."""
EXHIBITS: Mapping[str, Exhibit] = {
    "dot": energies.EXHIBIT,
    "pair": pair.EXHIBIT,
    "heads": heads.EXHIBIT,
    "answers": five_models.EXHIBIT,
}
"""By their names in the address, in the order of the page."""
_SHOWN_TRACES = "transformer_on_show"
"""Session state key of the shown traces: payloads are available while the session holds them."""


def transformer_view(request: SentenceRequest) -> None:
    """Draw the chosen exhibit for the sentence of `request`."""
    session = st.session_state
    for name in (heads.HEAD, SWAP):
        linked_entry(session, link(), name, None)
    address.add_parameters(session, dict.fromkeys((heads.HEAD, pair.FRENCH, SWAP)))
    exhibit_name = _chosen_exhibit()
    exhibit = EXHIBITS[exhibit_name]
    text_section(transformer_page.story(_as_exhibit_name(exhibit_name)))
    try:
        with st.spinner(gettext("Translating…")):
            view = replace(exhibit.make_view(request), main=request.view)
    except AttnvizError as error:
        with st.container(key="transformer_problem"):
            st.text(str(error))
        return
    session[_SHOWN_TRACES] = view.trace, request.view.trace
    _write_address(view, exhibit_name)
    with st.container(key=view.key("room")):  # the browser stores the view's state here: see components/view.js
        exhibit.draw(view, request, theme_name())
        if EQUATION_LINES[_as_exhibit_name(exhibit_name)]:
            with st.container(key=view.key("ladder")):
                st.html(f'<h2 class="section">{gettext("The change as a formula")}</h2>')
                inline_equation(view, exhibit_equation(_as_exhibit_name(exhibit_name), theme_name()), "ladder")
        _tables(view, exhibit, request)
    with st.container(horizontal=True, vertical_alignment="center", key="transformer_foot"):
        _downloads(view, exhibit, request, _as_exhibit_name(exhibit_name))
        copy_link(view)
    references(transformer_page.REFERENCES)


def _chosen_exhibit() -> str:
    """Draw the choice of the exhibit; return its name."""
    names = {name: title for name, title in exhibit_titles().items() if name in EXHIBITS}
    return segmented_control(
        gettext("Rung"),
        names,
        key=EXHIBIT_NAME,
        default=next(iter(names)),
        label_visibility="collapsed",
        parameter=EXHIBIT_NAME,
    )


def _as_exhibit_name(name: str) -> Rung:
    return next(literal for literal in get_args(Rung) if literal == name)


def _write_address(view: View, exhibit_name: str) -> None:
    """Write the parameters of the exhibit into the address; each exhibit has its own history entry."""
    session, chosen = st.session_state, {"heads": heads.HEAD, "pair": SWAP}.get(exhibit_name)
    main_identity = view.main.identity if view.main else ""
    parameters = {chosen: session[chosen]} if chosen else {}
    address.set_page_address(session, f"{main_identity} {exhibit_name} {view.identity}", parameters)


def _tables(view: View, exhibit: Exhibit, request: SentenceRequest) -> None:
    """Offer the numbers in the figures, computed only while the box is open."""
    theme, swap = theme_name(), chosen_swap(request.sentence)

    def make_tables(selection: Selection) -> list[tuple[str, pd.DataFrame]]:
        pictures = exhibit.pictures(view, request, _exhibit_selection(view, selection, swap), theme)
        tables = [(picture.heading, picture.numbers) for picture in pictures]
        return tables + (list(exhibit.tables(view, request)) if exhibit.tables else [])

    table_box(view, gettext("The charts as tables"), "tables", f"{theme} {swap}", make_tables)


def _downloads(view: View, exhibit: Exhibit, request: SentenceRequest, exhibit_name: Rung) -> None:
    """Offer the figures of the exhibit, and its page for a lecture."""
    swap, file = chosen_swap(request.sentence), file_name(request.view.trace, f"{exhibit_name}.html")

    def make_files(selection: Selection) -> Iterator[PictureFile]:
        pictures = exhibit.pictures(view, request, _exhibit_selection(view, selection, swap), "light")
        return (picture_file(request.view.trace, picture) for picture in pictures)

    def story(selection: Selection, theme: ThemeName) -> Story:
        return _lecture(view, exhibit, request, _exhibit_selection(view, selection, swap), exhibit_name, theme)

    def draw() -> None:
        offer_pictures(view, make_files, str(swap))
        offer_lecture(view, story, file, str(swap))

    download_box(draw)


def _lecture(
    view: View,
    exhibit: Exhibit,
    request: SentenceRequest,
    selection: ExhibitSelection,
    exhibit_name: Rung,
    theme: ThemeName,
) -> Story:
    """Return the lecture page of the current exhibit."""
    text, tables = transformer_page.story(exhibit_name), tuple(exhibit.tables(view, request)) if exhibit.tables else ()
    equation = exhibit_equation(exhibit_name, theme)
    note = (transformer_page.note(exhibit_name),) if EQUATION_LINES[exhibit_name] else ()
    shown = Chapter(
        text.heading,
        (*text.paragraphs, *note),
        story_pictures(exhibit.pictures(view, request, selection, theme)),
        tables,
        equation.latex if EQUATION_LINES[exhibit_name] else "",
    )
    opening = Chapter(transformer_page.opening().heading, transformer_page.opening().paragraphs)
    return Story(
        gettext("To the transformer"), request.sentence, (opening, shown), references=transformer_page.REFERENCES
    )


def _exhibit_selection(view: View, selection: Selection, swap: tuple[int, int] | None) -> ExhibitSelection:
    return ExhibitSelection(selection.step, source_of(selection, view.trace), swap)
