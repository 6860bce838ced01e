"""The navigation between pages."""
