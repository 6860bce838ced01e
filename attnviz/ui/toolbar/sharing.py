"""Draw the part of the box *More* with the link and the downloads."""

from __future__ import annotations

import streamlit as st

from attnviz.languages import gettext
from attnviz.ui.components.copy_link import copy_link
from attnviz.ui.toolbar.downloads import downloads
from attnviz.ui.view import View


def share_and_save(view: View | None) -> None:
    """Draw the link and the files of `view`.

    The browser mounts the contents of an open box only, and fetches them then, so that opening it asks nothing of the
    server.
    """
    if view:
        with st.container(horizontal=True, vertical_alignment="center", key="share"):
            st.caption(gettext("The link opens exactly what is shown."))
            copy_link(view)
        downloads(view)
