"""The two sentences and the transport."""
