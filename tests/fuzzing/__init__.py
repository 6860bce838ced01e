"""Fuzzing with random and damaged input of every kind: `python -m tests.fuzzing`."""
