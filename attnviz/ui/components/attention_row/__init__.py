"""Draw one row of attention weights, which changes from one form of attention to the next."""
