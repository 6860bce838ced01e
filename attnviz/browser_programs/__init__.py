"""Programs of others that the browser is given: Plotly, which draws figures, and KaTeX, which sets equations.

README.md in here says where they are from.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class BrowserProgram:
    """One JavaScript file, which defines a global object."""

    name: str
    version: str

    @functools.cached_property
    def text(self) -> str:
        """The program, fit for a script element."""
        return Path(__file__).with_name(f"{self.name}.min.js").read_text(encoding="utf-8")

    @functools.cached_property
    def file_name(self) -> str:
        """A name that no other state of the program has: what is kept under it never goes out of date."""
        return f"{self.name}-{self.version}-{hashlib.sha256(self.text.encode()).hexdigest()[:12]}.js"


PLOTLY = BrowserProgram("plotly", "4.1.1")
"""plotly.js of the version that comes with the plotly that makes the figures; it defines `Plotly`."""

PLOTLY_TRACES = frozenset({"scatter", "bar", "heatmap", "waterfall"})
"""The types of trace that ours can draw: all that the figures have."""

KATEX = BrowserProgram("katex", "0.16.47")
"""KaTeX of the version with whose styles and fonts Streamlit's pages come; it defines `katex`."""
