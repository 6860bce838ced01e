"""The alignment in words."""
