"""A page with two step views: the same pieces, with the attention of two different models."""

import streamlit as st

from attnviz.ui.chrome import load_library
from attnviz.ui.components.component import view_blocks
from attnviz.ui.fields import set_value
from attnviz.ui.language import use_chosen_language
from attnviz.ui.requests import acknowledge_handled, handle, next_request, receive
from attnviz.ui.server import MIDDLEWARE, ROUTES
from attnviz.ui.step.step_view import step_view
from attnviz.ui.style import apply_style, theme_name
from attnviz.ui.view import View
from tests.figures.synthetic import trace

if __name__ == "__main__":
    st.set_page_config(layout="wide")
    receive()
    handle({"set": set_value})
    request = next_request()
    use_chosen_language()
    apply_style(theme_name())
    load_library()
    for name, seed in (("a", 0), ("b", 1)):
        view = View(name, trace(seed=seed))
        st.header(f"Model {name}")
        with view_blocks(view.key("view")):
            step_view(view)
    acknowledge_handled(request, {"entry": "two views", "parameters": {}})
else:
    app = st.App(__file__, routes=ROUTES, middleware=MIDDLEWARE)
