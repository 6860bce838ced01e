"""What the browser asks of the server."""
