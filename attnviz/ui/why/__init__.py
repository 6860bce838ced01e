"""The page *Why attention?*: the visitor's sentence through three models that differ in their attention only."""
