"""Commands that are killed and restarted."""
