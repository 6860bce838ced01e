"""A way to another page."""
