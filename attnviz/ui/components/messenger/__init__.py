"""What goes between the browser and the server of a view."""
