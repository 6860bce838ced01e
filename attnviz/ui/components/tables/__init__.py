"""Draw tables that follow the current step."""
