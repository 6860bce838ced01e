"""Receive the requests of the browser."""
