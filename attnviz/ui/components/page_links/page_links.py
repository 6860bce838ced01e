"""The program that has the server follow a link where it has still to hear of something: see its JavaScript."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from attnviz.ui.components.loader import component


def follow_links(pages: Sequence[StreamlitPage]) -> None:
    """Go on with that of `pages` whose link was clicked, after all that was typed and chosen before is heard."""
    asked = component("page_links", isolate=False)(key="page_links", height=1, on_page_change=lambda: None).page
    for page in pages:
        if page.url_path == asked:
            st.switch_page(page)
