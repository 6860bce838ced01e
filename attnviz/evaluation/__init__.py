"""Scores of translators and detectors on test files."""
