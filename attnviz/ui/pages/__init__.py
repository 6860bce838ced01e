"""The pages of the app, one module each. No page imports another."""

PATHS = ("", "why", "learns", "transformer", "lab", "corpus")
"""Paths of the pages, in the order of the navigation; that of the first is empty."""
