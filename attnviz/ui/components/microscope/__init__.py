"""The energy microscope."""
