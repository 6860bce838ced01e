"""Draw many small heatmaps, one of which can be opened."""
