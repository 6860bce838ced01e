"""Draw sentences about invalid values of a link."""
