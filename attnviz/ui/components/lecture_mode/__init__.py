"""Lecture mode: the page for a projector, with a presenter's keys."""
