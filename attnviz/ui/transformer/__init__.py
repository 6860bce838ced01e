"""To the transformer: the visitor's sentence up a ladder on which each rung changes how well two words fit."""
