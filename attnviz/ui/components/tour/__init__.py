"""Draw the card of the tour, and highlight the part of the page that it describes."""
