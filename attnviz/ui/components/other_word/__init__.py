"""Choose another word at a step."""
