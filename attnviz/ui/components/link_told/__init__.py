"""Sentences about values of a link that cannot be."""
