"""The page *To the transformer*: each exhibit changes how the score of two words is computed."""
