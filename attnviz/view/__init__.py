"""The step view in other hosts than the app: notebooks (`attnviz.view.notebook`) and other people's Streamlit apps.

Files have it, too: `attnviz.export.page_html`.
"""
