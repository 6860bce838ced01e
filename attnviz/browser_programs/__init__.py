"""What others made that the browser is given: Plotly, which draws figures, KaTeX, which sets equations, and letters.

README.md in here says where they are from.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


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
        return f"{self.name}-{self.version}-{_digest(self.text.encode())}.js"


PLOTLY = BrowserProgram("plotly", "4.1.1")
"""plotly.js of the version that comes with the plotly that makes the figures; it defines `Plotly`."""

PLOTLY_TRACES = frozenset({"scatter", "bar", "heatmap", "waterfall"})
"""The types of trace that ours can draw: all that the figures have."""

KATEX = BrowserProgram("katex", "0.16.47")
"""KaTeX of the version with whose styles and fonts Streamlit's pages come; it defines `katex`."""


@dataclass(frozen=True)
class BrowserFont:
    """One file of letters, of any weight from 400 to 700."""

    name: str
    style: str

    @functools.cached_property
    def content(self) -> bytes:
        """The file, as WOFF2."""
        return Path(__file__).with_name(f"{self.name}.woff2").read_bytes()

    @functools.cached_property
    def file_name(self) -> str:
        """A name that no other state of the file has."""
        return f"attnviz-{self.name}-{_digest(self.content)}.woff2"


SERIF = (BrowserFont("serif", "normal"), BrowserFont("serif-italic", "italic"))
"""The letters of headings and sentences: what of Source Serif such pages need, in a sixth of its bytes."""

SERIF_FAMILY = "Attnviz Serif"
"""Its name in style sheets, and in `.streamlit/config.toml`."""


def serif_style() -> str:
    """Return the CSS that makes the letters known to a page whose address they stand beside."""
    return "".join(
        f'@font-face {{ font-family: "{SERIF_FAMILY}"; font-style: {font.style}; font-weight: 400 700; '
        f'font-display: swap; src: url("{font.file_name}") format("woff2"); }}\n'
        for font in SERIF
    )
