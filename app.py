"""The pages of attnviz: `streamlit run app.py`."""

import streamlit as st

from attnviz.ui.server import MIDDLEWARE, ROUTES, lifespan

if __name__ == "__main__":  # as Streamlit runs it, for each visitor
    from attnviz.ui.chrome import run_pages
    from attnviz.ui.pages import corpus_page, lab_page, learns_page, transformer_page, translate_page, why_page
    from attnviz.ui.style import ICON

    st.set_page_config(page_title="attnviz", page_icon=ICON, layout="wide")
    learning = [learns_page.LEARNS_PAGE] if learns_page.offered() else []
    run_pages(
        [
            translate_page.TRANSLATE_PAGE,
            why_page.WHY_PAGE,
            *learning,
            transformer_page.TRANSFORMER_PAGE,
            lab_page.LAB_PAGE,
            corpus_page.CORPUS_PAGE,
        ]
    )
else:  # as the server imports it, once
    app = st.App(__file__, routes=ROUTES, middleware=MIDDLEWARE, lifespan=lifespan)
