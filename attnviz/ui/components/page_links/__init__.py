"""Draw the links between the app's pages."""
