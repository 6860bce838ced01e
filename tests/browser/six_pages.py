"""The app with six pages, to test the row of page links; its names are those of the real pages."""

import streamlit as st

from attnviz.languages import language
from attnviz.ui.chrome import Page, run_pages
from attnviz.ui.pages import lab_page, translate_page
from attnviz.ui.server import MIDDLEWARE, ROUTES

NAMES = {
    "why": ("Why attention?", "Pourquoi l’attention\u00a0?"),
    "learns": ("How it learns", "Comment il apprend"),
    "transformer": ("To the transformer", "Vers le transformer"),
    "corpus": ("Corpus", "Corpus"),
}


def named(path: str) -> Page:
    """Return a page that shows nothing."""
    return Page(path, lambda: NAMES[path][language() == "fr"], lambda: None)


if __name__ == "__main__":
    st.set_page_config(page_title="attnviz", layout="wide")
    run_pages([translate_page.TRANSLATE_PAGE, *map(named, NAMES), lab_page.LAB_PAGE])
else:
    app = st.App(__file__, routes=ROUTES, middleware=MIDDLEWARE)
