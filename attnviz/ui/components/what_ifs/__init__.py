"""Draw the what-ifs of a translation as cards."""
