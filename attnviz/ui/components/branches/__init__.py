"""The what-ifs of a translation as cards."""
