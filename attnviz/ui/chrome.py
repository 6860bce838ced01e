"""What stands around every page: its title, the language, and the way to the other pages.

All pages are one Streamlit page, and `page` in the address says which is on show. The browser asks for another by a
request, as for anything else, so that it comes after what was typed and chosen before; widgets are the same on all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.languages import gettext
from attnviz.ui.admission import admitted
from attnviz.ui.components.lecture_mode.lecture_mode import lecture_mode
from attnviz.ui.components.page_links.page_links import page_links
from attnviz.ui.components.plotly.plotly import load_library
from attnviz.ui.inbox import hold, inbox
from attnviz.ui.language import LANGUAGE, language_switch, use_chosen_language
from attnviz.ui.link import follow_address, link
from attnviz.ui.page_state import inputs
from attnviz.ui.page_state.address import PAGE, open_address, page_record
from attnviz.ui.requests import acknowledge_until, handle, receive
from attnviz.ui.sign_in import sign_out_link, signed_in
from attnviz.ui.style import apply_style, theme_name
from attnviz.ui.turns import in_turn

_TYPED = (inputs.SENTENCE, inputs.TARGET)
"""The boxes whose text is a person's own."""


@dataclass(frozen=True)
class Page:
    """A page of the app."""

    path: str
    """Its name in the address; empty for the first."""
    title: Callable[[], str]
    """Its name in the language in use."""
    draw: Callable[[], None]
    forget: Callable[[], None] = lambda: None
    """Forgets what was chosen on it: another link is to be followed."""
    fill: Callable[[], None] = lambda: None
    """Puts the texts of the link into their boxes."""


def go_to(path: str) -> None:
    """Have the page at `path` on show from the next run on."""
    session = st.session_state
    hold(session, lambda: session.update({PAGE: path}))


@in_turn
def run_pages(pages: Sequence[Page]) -> None:
    """Draw the page that was asked for last, at first that of the address or the first of `pages`, with what stands
    around it."""
    session = st.session_state
    if PAGE not in session:
        session[PAGE] = link().get(PAGE, "")
    use_chosen_language()
    taken = receive()
    handle({"resume": partial(_resume, pages)})
    handle({"page": lambda path: go_to(str(path)), "follow": partial(_go_back, pages)})
    use_chosen_language()
    apply_style(theme_name())
    if not (signed_in() and admitted()):
        return
    load_library()
    current = _page(pages)
    open_address(session, current.path)
    _masthead(pages, current)
    with _place(pages, current):
        current.draw()
    acknowledge_until(taken, page_record(session))


def _place(pages: Sequence[Page], current: Page) -> DeltaGenerator:
    """Return where the `current` page is drawn: each has a place of its own, and that of another is emptied at once, or
    Streamlit would have what stands on it in the new page for a moment."""
    places = {page.path: st.container() if page is current else st.empty() for page in pages}
    return places[current.path]


def _page(pages: Sequence[Page]) -> Page:
    """Return the page on show."""
    return next((page for page in pages if page.path == st.session_state[PAGE]), pages[0])


def _go_back(pages: Sequence[Page], query: Any) -> None:
    """Show what the `query` of the address says, after Back or Forward."""
    hold(st.session_state, lambda: _follow(pages, query).fill(), _TYPED)


def _resume(pages: Sequence[Page], asked: Any) -> None:
    """Show what the address says where a server before this one was asked for it; what stands in the boxes is the
    browser's, and stays."""
    if isinstance(asked, Mapping) and asked.get("memory") not in ("", inbox(st.session_state).memory):
        _follow(pages, asked.get("query"))


def _follow(pages: Sequence[Page], query: Any) -> Page:
    """Have what the `query` of an address says on show; return its page."""
    session = st.session_state
    follow_address(query)
    session[PAGE] = link().get(PAGE, "")
    session.pop(LANGUAGE, None)
    page = _page(pages)
    page.forget()
    return page


def _masthead(pages: Sequence[Page], current: Page) -> None:
    """Draw the title, with what this is about on the first page, the ways to the pages where there is more than one,
    marking the `current` one, the choice of language, and lecture mode."""
    about = gettext("See a translator turn English into French, and where it looks for every word.")
    told = "" if current.path else f'<span class="about">{about}</span>'
    with st.container(horizontal=True, vertical_alignment="center", key="masthead"):
        st.html(f'<div class="masthead"><h1 class="title">attnviz</h1>{told}</div>')
        if len(pages) > 1:
            page_links({page.path: page.title() for page in pages}, current.path)
        language_switch()
        sign_out_link()
        lecture_mode(current.path)
