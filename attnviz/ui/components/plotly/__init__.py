"""Load Plotly's script, once a page."""
