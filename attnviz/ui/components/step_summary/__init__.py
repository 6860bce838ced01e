"""Summarise the step."""
