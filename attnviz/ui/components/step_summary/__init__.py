"""Draw the summary of a step: what it wrote, and the outcome of each of its stages."""
