"""The page *Lab*: attributions, perturbation tests, the beam search as a tree, comparisons, and neighbours.

The module of a section draws it, makes its payloads, and yields its figures and tables for downloads.
"""
