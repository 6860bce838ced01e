"""What the server says of the translation that a view shows."""
