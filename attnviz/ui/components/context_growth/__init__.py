"""Draw the context vector as a running sum over the source pieces."""
