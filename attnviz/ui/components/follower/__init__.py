"""A part of the page that follows what is on show, but only near the window."""
