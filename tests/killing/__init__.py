"""Commands that are killed and started again: `python -m tests.killing`."""
