"""The badge of a step, which opens on what was proved."""
