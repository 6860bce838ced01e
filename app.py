"""The page of attnviz: `streamlit run app.py`."""

import streamlit as st

from attnviz.ui.pages.translate import translate_page
from attnviz.ui.style import ICON

st.set_page_config(page_title="attnviz", page_icon=ICON, layout="wide")
st.navigation([st.Page(translate_page, title="attnviz", default=True)], position="hidden").run()
