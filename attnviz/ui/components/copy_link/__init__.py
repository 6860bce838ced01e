"""Draw a button that copies the link to the current view."""
