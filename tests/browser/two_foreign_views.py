"""Somebody else's Streamlit app with two views of one trace, drawn in two ways, below a radio group of its own."""

import streamlit as st

from attnviz import Translator
from attnviz.view.streamlit import show

st.set_page_config("Two views", layout="wide")
trace = st.cache_resource(Translator.load)("small-additive").translate("The green house is old.")
st.radio("Answer", ["yes", "no"], key="answer")
show(trace, key="pieces", level="everything")
show(trace, key="words", by="words", step=2, level="everything")
