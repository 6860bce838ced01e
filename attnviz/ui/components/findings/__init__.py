"""List findings about the alignment, such as omitted or repeated words."""
