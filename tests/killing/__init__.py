"""Commands that are killed and restarted: `python -m tests.killing`."""
