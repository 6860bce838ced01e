"""Pictures as files, made in the browser."""
