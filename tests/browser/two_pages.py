"""The app with a second page, which shows none of the widgets of the first page."""

import streamlit as st

from attnviz.ui.chrome import Page, run_pages
from attnviz.ui.pages import translate_page
from attnviz.ui.server import MIDDLEWARE, ROUTES

elsewhere = Page("elsewhere", lambda: "Elsewhere", lambda: st.text("Nothing of the first page is here."))
"""A page that shows a line of text."""


if __name__ == "__main__":
    st.set_page_config(page_title="attnviz", layout="wide")
    run_pages([translate_page.TRANSLATE_PAGE, elsewhere])
else:
    app = st.App(__file__, routes=ROUTES, middleware=MIDDLEWARE)
