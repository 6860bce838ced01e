"""Draw the controls that move through the checkpoints of a training run."""
