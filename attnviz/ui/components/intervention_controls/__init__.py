"""Draw the controls that change the attention of a step by hand."""
