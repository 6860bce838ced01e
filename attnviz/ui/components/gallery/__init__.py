"""Many small heatmaps, one of which is opened."""
