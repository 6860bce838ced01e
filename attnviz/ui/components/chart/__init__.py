"""Draw a Plotly figure that is updated in place at each step."""
