"""Store what a visitor chose, in the session state and in the address. Plain functions on a mapping."""
