"""Our own Streamlit components, one folder each: Python, HTML, CSS and JavaScript side by side."""
