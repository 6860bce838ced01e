"""The page *To the transformer*: exhibits from additive attention to the transformer, one module each."""
