"""Draw a form field: a text box, a select box, a row of choices or a switch."""
