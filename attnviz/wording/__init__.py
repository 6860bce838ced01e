"""Sentences about numbers, for the page, for files and for the terminal; without Plotly and Streamlit.

Labels of buttons and axes, and text alternatives of figures, are next to the code that displays them.
"""
