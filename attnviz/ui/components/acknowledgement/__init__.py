"""Set the address of the page, and acknowledge handled requests, at the end of a run."""
