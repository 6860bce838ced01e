"""What a visitor chose, and how each click or key changes it. Plain functions on a mapping."""
