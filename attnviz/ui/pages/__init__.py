"""The pages of the app, one module each. No page imports another."""
