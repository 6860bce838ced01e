"""A file of what is on show."""
