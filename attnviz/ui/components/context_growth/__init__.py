"""Draw the context vector as it is summed up."""
