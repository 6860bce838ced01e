"""Set the keyboard focus when a popover opens or closes."""
