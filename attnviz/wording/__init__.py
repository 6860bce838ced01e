"""What is said about numbers, for the page, for files and for the terminal. Neither Plotly nor Streamlit in here."""
