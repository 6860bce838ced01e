"""Somebody else's Streamlit app with a step view; the guide shows it."""

import streamlit as st

from attnviz import Translator
from attnviz.view.streamlit import show

st.set_page_config("My translator", layout="wide")
translator = st.cache_resource(Translator.load)("small-additive")
sentence = st.text_input("English", "I have a green house and a red car.")
trace = translator.translate(sentence)
if st.button("Write the translation"):
    st.text(trace.translation)
show(trace)
