"""The step view: the panels that show one translation, one decoder step at a time."""
