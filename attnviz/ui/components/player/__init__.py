"""Draw the two sentences and the controls of the steps."""
