"""Other people's attention and models, read: what is in a file of another program, as this program's own records."""
