"""Draw the box *Share and save*: the link, downloads, and the file uploader."""

from __future__ import annotations

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.components.copy_link.copy_link import copy_link
from attnviz.ui.concurrency import in_turn
from attnviz.ui.page_state.view import View
from attnviz.ui.popover import popover
from attnviz.ui.requests import begin_fragment
from attnviz.ui.toolbar import opened_file
from attnviz.ui.toolbar.downloads import WIDTH, downloads


@st.fragment
@in_turn
def share_and_save(view: View | None) -> None:
    """Draw the box; its contents, the link and the files of `view` and the uploader, are drawn while it is open."""
    begin_fragment()
    box = popover(gettext("Share and save"), key=opened_file.BOX, type="tertiary", on_change="rerun")
    if not box.open:
        return
    with box, st.container(key="files", width=WIDTH, gap="small"):
        if view:
            with st.container(horizontal=True, vertical_alignment="center", key="share"):
                st.caption(gettext("The link opens exactly what is shown."))
                copy_link(view)
            downloads(view)
        opened_file.uploader()
