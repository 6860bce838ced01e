"""Read attention files and recurrent checkpoints of other programs; record attention of Hugging Face models."""
