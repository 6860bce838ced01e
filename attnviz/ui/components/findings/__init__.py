"""Describe the alignment in words."""
