"""What the browser remembers of a visitor from one visit to the next."""
