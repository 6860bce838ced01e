"""Draw the verification badge of a step."""
