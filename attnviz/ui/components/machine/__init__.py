"""The whole translator on one picture, with the numbers of the step on show."""
