"""What stands around every page: its title, the language, and the way to the other pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from attnviz.languages import gettext
from attnviz.ui.admission import admitted
from attnviz.ui.carried import arrive, arrived
from attnviz.ui.components.lecture_mode.lecture_mode import lecture_mode
from attnviz.ui.components.page_links.page_links import follow_links
from attnviz.ui.components.plotly.plotly import load_library
from attnviz.ui.language import LANGUAGE, language_switch, use_chosen_language
from attnviz.ui.page_state.address import keep_path, went_through_history
from attnviz.ui.sign_in import sign_out_link, signed_in
from attnviz.ui.style import apply_style, theme_name
from attnviz.ui.turns import in_turn

_OFFERED = "pages_offered"


def first_page() -> StreamlitPage:
    """Return the page that stands first, to lead to it."""
    page: StreamlitPage = st.session_state[_OFFERED][0]
    return page


@in_turn
def run_pages(pages: Sequence[Callable[[], StreamlitPage]]) -> None:
    """Draw the page that the address names, the first of `pages` at the root, with what stands around it.

    Each of `pages` makes one, in the language of the visitor.
    """
    if went_through_history():
        st.session_state.pop(LANGUAGE, None)  # the address says which
    use_chosen_language()
    offered = st.session_state[_OFFERED] = [make() for make in pages]
    current = st.navigation(offered, position="hidden")
    arrive(st.session_state, current.url_path)
    apply_style(theme_name())
    if not (signed_in() and admitted()):
        return
    load_library()
    _masthead(offered, current)
    current.run()
    arrived(st.session_state, current.url_path)


def _masthead(pages: Sequence[StreamlitPage], current: StreamlitPage) -> None:
    """Draw the title, with what this is about on the first page, the ways to the pages where there is more than one,
    marking the `current` one, the choice of language, and lecture mode."""
    about = gettext("See a translator turn English into French, and where it looks for every word.")
    told = "" if current.url_path else f'<span class="about">{about}</span>'
    with st.container(horizontal=True, vertical_alignment="center", key="masthead"):
        st.html(f'<div class="masthead"><h1 class="title">attnviz</h1>{told}</div>')
        if len(pages) > 1:
            with st.container(horizontal=True, key="pages", width="content"):
                for page in pages:
                    here = page.url_path == current.url_path
                    with st.container(key="page_here" if here else f"page_{page.url_path}", width="content"):
                        st.page_link(page, width="content")
            keep_path(st.session_state, current.url_path)
            follow_links(pages, current)
        language_switch()
        sign_out_link()
        lecture_mode(current.url_path)
