"""Draw a link to a file of the current view."""
