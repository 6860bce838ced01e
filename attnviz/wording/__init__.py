"""Sentences, labels and equations about translations, models and figures, in the current language.

The page, exported files and the terminal use them; this package imports neither Plotly nor Streamlit. Most labels of
buttons and axes, and most text alternatives of figures, are next to the code that displays them.
"""
