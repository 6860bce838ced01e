"""Vectors of a corpus that are near one of the step on show."""
