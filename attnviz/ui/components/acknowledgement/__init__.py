"""What the server says of the requests it has handled."""
