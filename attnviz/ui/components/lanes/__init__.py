"""Translations side by side, moved together."""
