"""What is drawn and told of translations, made once for all visitors."""

from __future__ import annotations

from attnviz.kept import Kept, kept_in, size_of

PICTURES: Kept[object] = Kept(24 << 20, size=size_of)
"""A page of one translation takes half a megabyte to a megabyte of it."""

made_once = kept_in(PICTURES)
"""Has what a function returns kept for all visitors, by its arguments but for those whose names begin with _."""
