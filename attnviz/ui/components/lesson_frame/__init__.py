"""Show the page of a lesson in a frame."""
