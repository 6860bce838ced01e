"""Store what a visitor chose, and apply each click or key. Plain functions on a mapping."""
