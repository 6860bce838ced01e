"""The finished hypotheses of a beam search."""
