"""The ways to the other pages: the server hears what was typed and chosen on this one before one is taken."""
