"""Queue the browser's requests until the server has handled them."""
