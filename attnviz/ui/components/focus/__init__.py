"""Where the focus goes when a popover opens or closes."""
