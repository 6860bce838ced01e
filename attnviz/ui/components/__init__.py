"""The app's Streamlit components, one folder each: Python, HTML, CSS and JavaScript side by side."""
