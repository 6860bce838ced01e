"""Third-party files for the browser: Plotly draws figures, KaTeX typesets equations in its fonts, and fonts of text.

README.md in this folder lists their origin and licence.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


@dataclass(frozen=True)
class BrowserProgram:
    """A script whose file name has a digest of its content."""

    name: str
    version: str

    @functools.cached_property
    def text(self) -> str:
        """The content of the script."""
        return Path(__file__).with_name(f"{self.name}.min.js").read_text(encoding="utf-8")

    @functools.cached_property
    def file_name(self) -> str:
        """File name with a digest of the content, so that browsers may cache it forever."""
        return f"{self.name}-{self.version}-{_digest(self.text.encode())}.js"


PLOTLY = BrowserProgram("plotly", "4.1.1")
"""plotly.js in the version of the Python package; it defines `Plotly`."""

PLOTLY_TRACES = frozenset({"scatter", "bar", "heatmap", "waterfall"})
"""The trace types of plotly.js in this build: all that the figures use."""

KATEX = BrowserProgram("katex", "0.16.47")
"""KaTeX in the version whose styles and fonts Streamlit ships; it defines `katex`."""


@dataclass(frozen=True)
class BrowserFont:
    """A font file."""

    name: str
    style: str = "normal"
    family: str = ""

    @functools.cached_property
    def content(self) -> bytes:
        """The font file, as WOFF2."""
        return Path(__file__).with_name(f"{self.name}.woff2").read_bytes()

    @functools.cached_property
    def file_name(self) -> str:
        """File name with a digest of the content."""
        return f"attnviz-{self.name}-{_digest(self.content)}.woff2"

    @functools.cached_property
    def data_url(self) -> str:
        """The font file as a URL, for a page without other files."""
        return f"data:font/woff2;base64,{base64.b64encode(self.content).decode('ascii')}"


SERIF_FAMILY = "Attnviz Serif"
"""Name of the serif font in style sheets and in `.streamlit/config.toml`."""

SERIF = (BrowserFont("serif", family=SERIF_FAMILY), BrowserFont("serif-italic", "italic", SERIF_FAMILY))
"""Variable font of headings and sentences, with weights 400 to 700: a subset of Source Serif, a sixth of its size."""

SANS = BrowserFont("sans", family="Attnviz Sans")
"""Variable font of other text, with weights 400 to 700: a subset of Source Sans, which Streamlit's pages have."""


def font_style(*, embedded: bool = False) -> str:
    """Return the CSS that declares the fonts of text: files in the folder of a Streamlit page, or `embedded`."""
    return "".join(
        f'@font-face {{ font-family: "{font.family}"; font-style: {font.style}; font-weight: 400 700; '
        f'font-display: swap; src: url("{font.data_url if embedded else font.file_name}") format("woff2"); }}\n'
        for font in (*SERIF, *([SANS] if embedded else ()))
    )


_FONT_FACE = re.compile(r"@font-face\{([^{}]*+)\}")


def katex_style() -> tuple[str, str]:
    """Return the CSS that declares KaTeX's fonts, embedded, and the CSS of its formulas: Streamlit has both."""
    style = Path(__file__).with_name("katex.min.css").read_text(encoding="utf-8")
    used = {path.stem for path in Path(__file__).parent.glob("KaTeX_*.woff2")}
    faces = []
    for declarations in _FONT_FACE.findall(style):
        described, _, source = declarations.partition("src:")
        name = source.removeprefix("url(fonts/").partition(".woff2")[0]
        if name in used:
            faces.append(f'@font-face{{{described}src:url("{BrowserFont(name).data_url}") format("woff2")}}')
    return "\n".join(faces), _FONT_FACE.sub("", style)
