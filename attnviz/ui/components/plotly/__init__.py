"""Plotly's program, once a page."""
