"""What can be tried on the look of a step."""
