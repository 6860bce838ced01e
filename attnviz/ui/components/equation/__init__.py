"""Draw the equation of a stage with the numbers of the current step."""
