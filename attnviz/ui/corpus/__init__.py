"""The page *Corpus*: many sentence pairs, measured and sorted; a click opens the step view of each."""
