"""List the finished hypotheses of a beam search."""
