"""What moves through the moments of a training."""
