"""plotly.js, the program that draws figures in a browser: as much of it as our figures need, a quarter of what Python's
plotly brings. README.md in here says how it was made."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

VERSION = "4.1.1"
"""Of plotly.js: that of the plotly that makes the figures."""

TRACES = frozenset({"scatter", "bar", "heatmap", "waterfall"})
"""The types of trace that it can draw."""


@functools.cache
def program() -> str:
    """Return the JavaScript that defines `Plotly`, fit for a script element."""
    return Path(__file__).with_name("plotly.min.js").read_text(encoding="utf-8")


@functools.cache
def file_name() -> str:
    """Return a name that no other state of the program has: what is kept under it never goes out of date."""
    return f"plotly-{VERSION}-{hashlib.sha256(program().encode()).hexdigest()[:12]}.js"
