"""Remember choices of a visitor between visits."""
