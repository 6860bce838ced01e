"""A Plotly figure, redrawn in place at each step."""
