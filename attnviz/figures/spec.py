"""`Spec`, what a figure function returns, its colours by theme, and the labels of all figures and their widths.

Figures name their colours: wherever a key ends with "color", "colour" or "colorscale", and in the spans of
`in_colour`, a name of a field or scale of `Palette`, or a function of a `Palette`, stands for the theme's.
`Spec.plotly` replaces it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from unicodedata import category, east_asian_width, normalize

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import LONGEST, shorten
from attnviz.languages import gettext
from attnviz.palette import Palette, ThemeName, palette
from attnviz.text import with_symbols

Part = dict[str, Any]
"""A part of Plotly's JSON, with NumPy arrays for numbers."""
Numbers = NDArray[np.floating]
"""Floating-point numbers of any precision."""
Table = Mapping[str, Sequence[Any] | NDArray[Any]]
"""Columns of equal length by their names; the first is the index."""


@dataclass(frozen=True)
class Spec:
    """A figure as plain Plotly JSON, with its text alternative and its numbers."""

    data: list[Part]
    """Plotly's traces."""
    layout: Part
    """Plotly's layout. `meta` has what code that displays the figure needs: see `plotly`."""
    alt: str
    """Text alternative."""
    table: Table = field(default_factory=dict)
    """The numbers of the figure."""

    def plotly(self, theme: ThemeName = "light") -> Part:
        """Return Plotly's JSON in the colours of a theme.

        `layout.meta` has the text alternative (`alt`) and the width in pixels below which the figure should scroll
        (`narrowest`); some figures say more in it.

        Args:
            theme: "light" or "dark".

        Raises:
            AttnvizError: The theme is unknown.
        """
        ink, layout = palette(theme), self.layout | {"meta": self.layout["meta"] | {"alt": self.alt}}
        return {"data": _in_theme(self.data, ink), "layout": _in_theme(layout, ink)}

    def figure(self, theme: ThemeName = "light") -> go.Figure:
        """Return the figure as a Plotly object, in the colours of the theme.

        Plotly's validation takes ten times as long as drawing; the tests validate every figure instead. Its default
        template, 7 kB of defaults for other chart types, is left out too.

        Args:
            theme: "light" or "dark".

        Raises:
            AttnvizError: The theme is unknown.
        """
        spec = self.plotly(theme)
        return go.Figure({"data": spec["data"], "layout": {"template": {}} | spec["layout"]}, _validate=False)

    def frame(self) -> pd.DataFrame:
        """Return the numbers of the figure as a table, indexed by its first column."""
        return frame_of(self.table)


def numbered(columns: Mapping[str, Any], name: str = "") -> dict[str, Any]:
    """Return a table of these columns whose rows are numbered from 1; `name` says what a row is."""
    return {name or gettext("row"): np.arange(1, len(next(iter(columns.values()))) + 1), **columns}


def frame_of(table: Table) -> pd.DataFrame:
    """Return a table as pandas has it, indexed by its first column."""
    frame: pd.DataFrame = pd.DataFrame(dict(table))
    return frame.set_index(next(iter(table)))


PRINT_WIDTH = 760
"""Width of a saved figure in pixels, unless its labels need more."""
TRANSPARENT = "rgba(0,0,0,0)"
"""The colour that shows what is below."""
STRIP = 24
"""Height of a strip of units in pixels."""


def figure_json(figure: go.Figure) -> str:
    """Return a figure as JSON for the browser."""
    return str(figure.to_json())


_COLOURED = ("color", "colour", "colorscale")
"""Ends of the keys of colours."""
_SPAN = re.compile(r'(?<=<span style="color:)\w+')


def _in_theme(part: Any, ink: Palette) -> Any:
    """Return a part of a figure with the colours of `ink` in place of their names."""
    if isinstance(part, dict):
        return {
            key: _colours(value, ink)
            if key.endswith(_COLOURED)
            else _in_theme(value, ink)
            if type(value) in (dict, list, str)
            else value
            for key, value in part.items()
        }
    if isinstance(part, str):
        return _SPAN.sub(lambda name: _colours(name[0], ink), part) if "<span" in part else part
    if part and type(part[0]) in (dict, list):
        return [_in_theme(entry, ink) for entry in part]
    # Most lists have numbers, or texts without a span.
    return [_in_theme(text, ink) if isinstance(text, str) and "<span" in text else text for text in part]


def _colours(value: Any, ink: Palette) -> Any:
    """Return a colour, a scale, or a list of these."""
    if callable(value):
        return value(ink)
    if isinstance(value, list | tuple):
        return [_colours(entry, ink) for entry in value]
    return getattr(ink, value, value) if isinstance(value, str) else value


def rectangle(x0: float, x1: float, y0: float, y1: float, colour: str, width: float = 2) -> Part:
    """Return an unfilled frame in data coordinates."""
    return {
        "type": "rect",
        "x0": x0,
        "x1": x1,
        "y0": y0,
        "y1": y1,
        "line": {"color": colour, "width": width},
        "fillcolor": TRANSPARENT,
    }


def in_colour(label: str, colour: str) -> str:
    """Return an already escaped label in `colour`, in Plotly's markup."""
    return f'<span style="color:{colour}">{label}</span>'


def emphasise(label: str, colour: str) -> str:
    """Return an already escaped label in bold and in `colour`, in Plotly's markup."""
    return in_colour(f"<b>{label}</b>", colour)


def escape(text: str) -> str:
    """Return `text` escaped so that Plotly draws these characters.

    In labels and hover texts Plotly interprets some HTML (`<b>`, `<br>`, `<a href>`), character entities, and `$...$`
    as LaTeX where MathJax is loaded. Characters that SVG cannot hold become symbols.
    """
    text = with_symbols(text.replace("\n", " "))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("$", "&#36;")


def axis_labels(names: Iterable[str], longest: int = LONGEST) -> list[str]:
    """Return tick labels for `names`: shortened, then escaped."""
    return [escape(shorten(name, longest)) for name in names]


_MOST_LABELS = 260


def label_stride(count: int) -> int:
    """Return the stride at which at most 260 of `count` labels are drawn."""
    return -(-count // _MOST_LABELS)


_EM = {
    0.3: "'IJijlłıІЈіјוןا",
    0.35: " ,./:;\\|¦·ז‘’‚",
    0.4: "()-[]ftŧנ‹›",
    0.45: "!r¡גدذ",
    0.5: '"*_`§°ءرزژ–†‡',
    0.55: "?cszгзсэєѕדךכץه٠١٢٣٤٥٦٧٨٩“”„",
    0.6: "FLkvxyŁĸΓγκλνςυχвтухчьבלצרعغ•",
    0.65: "$0123456789EPSTYabdeghnopqu{}¢£¤¥«»ÞßðøþđŋŦΕΞΡΣΤβδηθμοπρστЅЗРТабеиклорђטסעףפجحخمچ€√",
    0.7: "ABCKRVXZħΑΒΔΖΚΛΧαφψЄАБВСХЧЬЭЯднпћџאהחםמת",
    0.75: "NUŊΝИКъקשلن",
    0.8: "",  # all others
    0.85: "#+<=>^w~¬±×÷ωЪю←→−ك",
    0.9: "MΜМФЫфњکگ",
    0.95: "%Ħжшщљبتثطظپ",
    1.1: "@W…—©®ÆæŒœЉЊЖШЩЮف",
    1.25: "سشصض",
    1.35: "‰",
}
"""Advance widths of letters in font sizes, rounded up, in DejaVu Sans, the widest of common fonts."""
_WIDTHS = {letter: width for width, letters in _EM.items() for letter in letters}
_BOLD = 1.16
"""Width of bold words relative to regular ones."""


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the largest width of `text` in pixels, with letters of `size` pixels, whatever font draws it."""
    return size * (_BOLD if bold else 1) * sum(map(_em, text))


@functools.lru_cache(maxsize=4096)
def _em(letter: str) -> float:
    if east_asian_width(letter) in "WF":
        return 1.05
    if category(letter) in ("Cf", "Me", "Mn"):  # joiners, isolates and combining marks
        return 0
    return _WIDTHS.get(normalize("NFD", letter)[0], 0.8)


def label_height(longest: float, size: float, angle: int) -> int:
    """Return the height in pixels of labels, `longest` pixels wide with letters of `size`, turned by `angle` degrees.

    The angle is 0, -50 or -90.
    """
    # 0.77 is the sine of 50 degrees.
    return round({0: 1.6 * size, -50: 0.77 * longest + size, -90: longest + 6}[angle])


def label_width(names: Iterable[str], size: float, longest: int = LONGEST) -> float:
    """Return the width in pixels of the widest of the `axis_labels` of `names`, with letters of `size` pixels."""
    return max(width(shorten(name, longest), size) for name in names)
