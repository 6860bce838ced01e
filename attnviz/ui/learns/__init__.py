"""The page *How it learns*: attention and quality at the checkpoints of training runs."""
