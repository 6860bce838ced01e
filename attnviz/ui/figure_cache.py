"""Cache figures and texts of translations, shared by all visitors."""

from __future__ import annotations

from attnviz.lru_cache import LRUCache, cached_in, size_of

PICTURES: LRUCache[object] = LRUCache(24 << 20, size=size_of)
"""LRU cache; one translation takes half a megabyte to a megabyte of it."""

cached_for_all = cached_in(PICTURES)
"""Caches a function's results for all visitors, by its arguments except those whose names begin with _."""
