"""Measure translators and detectors on test files, and report the scores."""
