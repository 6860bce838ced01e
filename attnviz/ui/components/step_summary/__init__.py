"""The step in short."""
