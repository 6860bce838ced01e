"""What leads out of the page and back: the link, the files, and a saved trace that is opened again."""

from __future__ import annotations

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.components.copy_link.copy_link import copy_link
from attnviz.ui.language import use_chosen_language
from attnviz.ui.page_state.view import View
from attnviz.ui.toolbar import reopening
from attnviz.ui.toolbar.downloads import WIDTH, downloads
from attnviz.ui.turns import in_turn


@st.fragment
@in_turn
def share_and_save(view: View | None) -> None:
    """Offer the link and the files of `view`, where there is one, as they are when the box is opened; take a file."""
    use_chosen_language()
    box = st.popover(gettext("Share and save"), type="tertiary", key=reopening.BOX, on_change="rerun", width="content")
    if not box.open:
        return
    # As wide as two columns of pictures; a narrower window shrinks it.
    with box, st.container(key="files", width=WIDTH, gap="small"):
        if view:
            with st.container(horizontal=True, vertical_alignment="center", key="share"):
                st.caption(gettext("The link opens just what is on show."))
                copy_link(view)
            downloads(view)
        reopening.opener()
