"""The program with a second page, as a room to come would add one: it draws none of the first page's boxes."""

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from attnviz.ui.chrome import run_pages
from attnviz.ui.pages import translate
from attnviz.ui.server import MIDDLEWARE, ROUTES


def elsewhere() -> StreamlitPage:
    """Return a page that shows a line of text."""
    return st.Page(lambda: st.text("Nothing of the first page is here."), title="Elsewhere", url_path="elsewhere")


if __name__ == "__main__":
    st.set_page_config(page_title="attnviz", layout="wide")
    run_pages([translate.page, elsewhere])
else:
    app = st.App(__file__, routes=ROUTES, middleware=MIDDLEWARE)
