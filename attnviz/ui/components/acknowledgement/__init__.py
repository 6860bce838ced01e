"""Acknowledge handled requests to the browser."""
