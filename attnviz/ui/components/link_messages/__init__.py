"""Show messages about invalid parameters of a link."""
