"""The pages of attnviz: `streamlit run app.py`."""

import streamlit as st

from attnviz.ui.server import MIDDLEWARE, ROUTES, lifespan

if __name__ == "__main__":  # as Streamlit runs it, for each visitor
    from attnviz.ui.pages import all_pages

    pages = all_pages()

    from attnviz.ui.chrome import ICON, run_pages

    st.set_page_config(page_title="attnviz", page_icon=ICON, layout="wide")
    run_pages([page for page in pages if page.offered()])
else:  # as the server imports it, once
    app = st.App(__file__, routes=ROUTES, middleware=MIDDLEWARE, lifespan=lifespan)
