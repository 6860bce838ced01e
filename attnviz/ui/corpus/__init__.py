"""The page *Corpus*: many sentence pairs, measured and sorted; a click opens a pair's step view."""
