"""Provide the browser's live colours, and the language of the document."""
