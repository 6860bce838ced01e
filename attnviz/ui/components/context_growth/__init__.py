"""The context vector that grows."""
