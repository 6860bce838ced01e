"""Send the browser the server's state of a view."""
