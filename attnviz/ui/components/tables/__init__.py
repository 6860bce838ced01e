"""Tables that follow the step on show."""
