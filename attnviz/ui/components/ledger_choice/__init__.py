"""The choice of the words that a logit is compared for."""
