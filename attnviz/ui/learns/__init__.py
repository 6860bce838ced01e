"""The page *How it learns*: training runs at several checkpoints."""
