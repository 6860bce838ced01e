"""Scroll a list back to where it was when a visitor opened one of its rows."""
