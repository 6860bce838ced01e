"""Read attention files and model checkpoints of other programs."""
