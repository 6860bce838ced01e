"""The app's Streamlit components, one folder each: Python, HTML, CSS and JavaScript side by side.

The JavaScript modules in this folder itself are shared by the components.
"""
