"""The equation of a stage, with the numbers of the step on show."""
