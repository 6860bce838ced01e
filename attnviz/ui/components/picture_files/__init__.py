"""Save figures as files, made in the browser."""
