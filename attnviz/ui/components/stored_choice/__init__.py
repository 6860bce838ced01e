"""Store choices of a visitor in cookies, for later visits."""
