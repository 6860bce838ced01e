"""Draw the two sentences and the step controls."""
