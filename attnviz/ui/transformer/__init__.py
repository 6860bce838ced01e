"""The page *To the transformer*: each rung of a ladder changes how the score of two words is computed."""
