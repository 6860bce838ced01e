"""Move through the checkpoints of a training run."""
