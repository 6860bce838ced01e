"""The program with six pages, called as those there are and are to come: as many as the line of links has to hold."""

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from attnviz.languages import language
from attnviz.ui.chrome import run_pages
from attnviz.ui.pages import lab, translate
from attnviz.ui.server import MIDDLEWARE, ROUTES

NAMES = {
    "why": ("Why attention?", "Pourquoi l’attention\u00a0?"),
    "learns": ("How it learns", "Comment il apprend"),
    "transformer": ("To the transformer", "Vers le transformer"),
    "corpus": ("Corpus", "Corpus"),
}


def named(path: str) -> StreamlitPage:
    """Return a page that shows nothing."""
    return st.Page(lambda: None, title=NAMES[path][language() == "fr"], url_path=path)


if __name__ == "__main__":
    st.set_page_config(page_title="attnviz", layout="wide")
    run_pages([translate.page, *((lambda path=path: named(path)) for path in NAMES), lab.page])
else:
    app = st.App(__file__, routes=ROUTES, middleware=MIDDLEWARE)
