"""The step view: the panels that show one translation, one decoder step at a time.

The module of a panel draws it and makes its payload.
"""
