"""Draw the form that makes a step write another word."""
