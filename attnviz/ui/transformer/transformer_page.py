"""Draw the page *To the transformer* below its sentence: the current rung, its exhibit, and downloads.

The server computes the current exhibit only.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import get_args

import pandas as pd
import streamlit as st

from attnviz import AttnvizError
from attnviz.export.story import Chapter, Story, story_html
from attnviz.languages import gettext, language, set_language
from attnviz.palette import ThemeName
from attnviz.ui.components.copy_link.copy_link import copy_link
from attnviz.ui.components.equation.equation import inline_equation
from attnviz.ui.components.file_link.file_link import file_link
from attnviz.ui.components.picture_files.picture_files import PictureFile
from attnviz.ui.concurrency import in_turn
from attnviz.ui.fields import segmented_control
from attnviz.ui.link import link
from attnviz.ui.page_state import address
from attnviz.ui.page_state.selection import Selection, source_of
from attnviz.ui.page_state.view import Session, View
from attnviz.ui.requests import begin_fragment
from attnviz.ui.session_payloads import payload
from attnviz.ui.step.data_tables import table_box
from attnviz.ui.style import theme_name
from attnviz.ui.text_passages import references, text_passage
from attnviz.ui.toolbar.downloads import file_name, offer_pictures, picture_box, picture_file, story_pictures
from attnviz.ui.transformer import energies, five_models, heads, pair
from attnviz.ui.transformer.exhibit import Asked, Chosen, Exhibit
from attnviz.ui.transformer.word_swap import SWAP, chosen_swap
from attnviz.wording import transformer_page
from attnviz.wording.transformer_page import LINES, Rung, ladder_equation, rung_names

RUNG = "rung"
"""Name of the current rung, in the session state and in the address."""
EXHIBITS: Mapping[str, Exhibit] = {
    "dot": energies.EXHIBIT,
    "pair": pair.EXHIBIT,
    "heads": heads.EXHIBIT,
    "answers": five_models.EXHIBIT,
}
"""By their names in the address, in the order of the page."""
_CHOICES = (RUNG, heads.HEAD, SWAP)
_HELD = "transformer_on_show"


def transformer_view(asked: Asked) -> None:
    """Draw the chosen rung for the sentence of `asked`."""
    session = st.session_state
    for name in _CHOICES:
        session.setdefault(name, link().get(name))
    chosen = _chosen_rung()
    exhibit = EXHIBITS[chosen]
    text_passage(transformer_page.story(_rung(chosen)))
    try:
        with st.spinner(gettext("Translating…")):
            view = exhibit.open(asked)
    except AttnvizError as error:
        with st.container(key="transformer_problem"):
            st.text(str(error))
        return
    session[_HELD] = view.trace, asked.view.trace  # payloads are available while the session holds the traces
    _write_address(view, asked, chosen)
    with st.container(key=view.key("room")):  # the browser stores the view's state here: see components/view.js
        exhibit.panel(view, asked, theme_name())
        if LINES[_rung(chosen)]:
            with st.container(key=view.key("ladder")):
                st.html(f'<h2 class="section">{gettext("What this rung changes, as a formula")}</h2>')
                inline_equation(view, ladder_equation(_rung(chosen), theme_name()), "ladder")
        _tables(view, exhibit, asked)
    with st.container(horizontal=True, vertical_alignment="center", key="transformer_foot"):
        _downloads(view, exhibit, asked, _rung(chosen))
        copy_link(view)
    references(transformer_page.REFERENCES)


def forget_transformer(session: Session) -> None:
    """Clear the choices of the page, before another link is followed."""
    for name in (*_CHOICES, pair.FRENCH):
        session.pop(name, None)
    for exhibit in EXHIBITS.values():
        address.forget_view(session, exhibit.view_id)


def _chosen_rung() -> str:
    """Draw the ladder; return the chosen rung."""
    names = {name: title for name, title in rung_names().items() if name in EXHIBITS}
    return segmented_control(
        gettext("Rung"),
        names,
        key=RUNG,
        default=next(iter(names)),
        label_visibility="collapsed",
    )


def _rung(name: str) -> Rung:
    return next(one for one in get_args(Rung) if one == name)


def _write_address(view: View, asked: Asked, chosen: str) -> None:
    """Write the parameters of the other pages' view and of this page into the address."""
    session = st.session_state
    address.write_too(session, address.own_parameters(session, asked.view))
    first = next(iter(EXHIBITS))
    address.write_too(
        session,
        {
            RUNG: None if chosen == first else chosen,
            heads.HEAD: session[heads.HEAD] if chosen == "heads" else None,
            pair.FRENCH: pair.french_in_address(asked) if chosen == "pair" else None,
            SWAP: session.get(SWAP) if chosen == "pair" else None,
        },
    )
    address.enter(session, f"{chosen} {view.identity}")
    address.lead(session, view, asked.view)


def _tables(view: View, exhibit: Exhibit, asked: Asked) -> None:
    """Offer the numbers in the figures, computed only while the box is open."""
    theme, swap = theme_name(), chosen_swap(asked.sentence)

    def made(selection: Selection) -> list[tuple[str, pd.DataFrame]]:
        drawn = exhibit.pictures(view, asked, _on_show(view, selection, swap), theme)
        found = [(one.heading, one.numbers) for one in drawn]
        return found + (list(exhibit.tables(view, asked)) if exhibit.tables else [])

    table_box(view, gettext("The charts as tables"), "tables", f"{theme} {swap}", made)


@st.fragment
@in_turn
def _downloads(view: View, exhibit: Exhibit, asked: Asked, rung: Rung) -> None:
    """Offer the figures, drawn when the box is opened."""
    begin_fragment()
    swap, code = chosen_swap(asked.sentence), language()

    def drawn(selection: Selection) -> Iterator[PictureFile]:
        pictures = exhibit.pictures(view, asked, _on_show(view, selection, swap), "light")
        return (picture_file(asked.view.trace, one) for one in pictures)

    def lecture(selection: Selection) -> bytes:
        set_language(code)
        chosen = _on_show(view, selection, swap)
        return story_html(functools.partial(_told, view, exhibit, asked, chosen, rung)).encode("utf-8")

    def offer() -> None:
        offer_pictures(view, drawn, str(swap))
        at = payload(view, "lecture", str(swap), lecture)
        file = file_name(asked.view.trace, f"{rung}.html")
        file_link(view, gettext("Page for a lecture, HTML"), at, file, "lecture_page")

    picture_box(offer)


def _told(view: View, exhibit: Exhibit, asked: Asked, chosen: Chosen, rung: Rung, theme: ThemeName) -> Story:
    """Return the page for a lecture with the current rung."""
    told, tables = transformer_page.story(rung), tuple(exhibit.tables(view, asked)) if exhibit.tables else ()
    equation = ladder_equation(rung, theme)
    note = (transformer_page.note(rung),) if LINES[rung] else ()
    shown = Chapter(
        told.heading,
        (*told.paragraphs, *note),
        story_pictures(exhibit.pictures(view, asked, chosen, theme)),
        tables,
        equation.latex if LINES[rung] else "",
    )
    opening = Chapter(transformer_page.opening().heading, transformer_page.opening().paragraphs)
    return Story(
        gettext("To the transformer"), asked.sentence, (opening, shown), references=transformer_page.REFERENCES
    )


def _on_show(view: View, selection: Selection, swap: tuple[int, int] | None) -> Chosen:
    return Chosen(selection.step, source_of(selection, view.trace), swap)
