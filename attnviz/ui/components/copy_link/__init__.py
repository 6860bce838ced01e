"""A button that copies the link to what is on show."""
