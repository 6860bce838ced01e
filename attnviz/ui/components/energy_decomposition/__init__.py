"""Draw the energy of a heatmap cell as a sum over hidden units (energy decomposition)."""
