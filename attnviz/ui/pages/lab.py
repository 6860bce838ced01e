"""The page *Lab*: what the words on show depended on, and what other looks would have made of them."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from attnviz.languages import gettext
from attnviz.ui.lab.room import forget_section, lab_room, open_section
from attnviz.ui.page_state import address
from attnviz.ui.resources import models
from attnviz.ui.toolbar.controls import request_address, standing_request
from attnviz.ui.toolbar.translation import follow_link, open_shown, translation_on_show

_ENTRY = "lab "


def page() -> StreamlitPage:
    """Return the page as the navigation knows it."""
    return st.Page(_draw, title=gettext("Lab"), url_path="lab")


def _draw() -> None:
    if address.went_through_history():
        follow_link()
        forget_section()
    available = models()
    request = standing_request(available) if available else None
    shown = translation_on_show(request, back=False)
    if shown.view:
        asked = request_address(request, available) if shown.asked and request else None
        open_shown(shown.view, asked, _ENTRY)
        open_section()
        lab_room(shown.view, asked=shown.asked)
