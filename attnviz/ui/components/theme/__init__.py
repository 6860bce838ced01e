"""Set the colours and the language of the page, and rerun it when the theme changes."""
