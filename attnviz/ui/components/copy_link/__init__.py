"""Draw the buttons that copy the link to the current view and enter lecture mode."""
