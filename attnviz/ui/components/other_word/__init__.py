"""Another word at a step."""
