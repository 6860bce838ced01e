"""Draw the card of the guided tour, and highlight the part of the page that it describes."""
