"""Draw the energy decomposition."""
