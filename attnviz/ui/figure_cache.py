"""LRU cache of figures and texts of translations, shared by all visitors, and the decorator that uses it."""

from __future__ import annotations

from attnviz.lru_cache import LRUCache, cached_in, size_of

FIGURE_CACHE: LRUCache[object] = LRUCache(24 << 20, size=size_of)
"""LRU cache of 24 MiB; a translation takes 0.5 to 1 MB of it."""

cached_for_all = cached_in(FIGURE_CACHE)
"""Caches a function's results for all visitors, by its arguments except those whose names begin with _."""
