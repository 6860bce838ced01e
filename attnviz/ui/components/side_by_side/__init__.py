"""Draw translations side by side, stepped together."""
