"""What is said about numbers, for the page, for files and for the terminal. Neither Plotly nor Streamlit in here.

Names of buttons and axes, and the text alternative of a picture, stand beside what shows them.
"""
