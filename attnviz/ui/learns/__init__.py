"""The page *How it learns*: runs of training, at moments of theirs."""
