"""A field: a text box, a choice or a switch."""
