"""Change the attention of a step by hand."""
