"""Made-up and damaged input of every kind: `python -m tests.fuzzing`."""
