"""The page *Corpus*: many pairs at once, measured, sorted, and each a click from its step room."""
