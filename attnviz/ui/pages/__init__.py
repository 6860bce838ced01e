"""The pages, one file each. A page never imports a page."""
