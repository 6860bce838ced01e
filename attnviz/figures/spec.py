"""`Spec`, what a figure function returns, and what figures are made of: labels, axes, rows, bars, strips, panels.

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
from attnviz.analysis.grid import places_of_pieces
from attnviz.analysis.labels import LONGEST, shorten
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.languages import decimal_mark, gettext, thousands_mark
from attnviz.palette import (
    BAND,
    CELL_FRAME,
    FONT,
    ROW_FRAME,
    ROW_FRAME_WIDTH,
    STRONGEST,
    ColourScale,
    Palette,
    ThemeName,
    palette,
)
from attnviz.text import with_symbols
from attnviz.trace.aligned import AttentionMatrix, Groups

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


def numbered_rows(columns: Mapping[str, Any], name: str = "") -> dict[str, Any]:
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


def label_stride(count: int, pixels: float = 3900) -> int:
    """Return the stride at which labels, of `count` in a line of so many `pixels`, have 15 pixels each."""
    return -(-count * 15 // max(1, int(pixels)))


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


HOVER = "%{customdata}<extra></extra>"
"""Template of hover texts that are written out."""
LABEL_LENGTH = 12
"""Characters of a source piece's label; hover texts are longer."""

TOP = 44
"""Pixels above the first row, where the axes are."""


def signed_colours(values: Numbers) -> list[str]:
    """Return the colours of signed bars of these `values`, (n,): blue from 0 up, red below."""
    return ["minus" if value < 0 else "plus" for value in values]


def numbers(ends: Numbers | Sequence[float], texts: Sequence[str], size: int = 12, **more: Any) -> Part:
    """Return a text of `size` pixels beside the end of each bar, (n,), at 0, 1, 2 and so on.

    It is on the left of a negative end. `more` are further properties of Plotly's trace.
    """
    positions = ["middle left" if end < 0 else "middle right" for end in ends]
    places = list(range(len(texts)))
    return texts_at(ends, places, list(texts), size, textposition=positions, cliponaxis=False) | more


def texts_at(x: Any, y: Any, texts: Sequence[str], size: float, colour: Any = "ink", **more: Any) -> Part:
    """Return a text at each x and y, (n,) each; `more` are further properties of Plotly's trace."""
    font = {"size": size, "color": colour}
    text = {"text": texts, "textfont": font, "hoverinfo": "skip"}
    return {"type": "scatter", "mode": "text", "x": x, "y": y} | text | more


def value_axis(title: str, limits: Sequence[float], **more: Any) -> Part:
    """Return the axis of bars, on top of the rows; `more` are further properties of Plotly's axis."""
    axis = {"side": "top", "range": list(limits), "nticks": 4, "zerolinecolor": "quiet"}
    return titled_axis(title, standoff=2) | axis | more


def row_height(count: int) -> int:
    """Return the height of one of `count` rows in pixels, enough for a readable label."""
    return 23 if count <= 18 else 20 if count <= 28 else 17 if count <= 48 else 14 if count <= 90 else 12


def label_size(count: int) -> int:
    """Return the font size of the labels of `count` rows, in pixels."""
    return 13 if count <= 28 else 12 if count <= 48 else 11 if count <= 90 else 10


def rows_layout(
    rows_axis: Part, row_height: float, margins: Sequence[int], narrowest: int, *axes: Part, **meta: Any
) -> Part:
    """Return the layout of rows of bars or strips, from which the height follows, on an axis that runs downwards.

    `axes` are the horizontal ones, `xaxis`, `xaxis2` …; the rest is as for `sized_layout`.
    """
    height = round(row_height * (rows_axis["range"][0] - rows_axis["range"][1])) + margins[2] + margins[3]
    layout = sized_layout(height, margins, narrowest, **meta) | {"bargap": 0.3, "yaxis": rows_axis}
    return layout | {f"xaxis{'' if k == 1 else k}": axis for k, axis in enumerate(axes, 1)}


def sized_layout(height: float, margins: Sequence[int], narrowest: int, **meta: Any) -> Part:
    """Return the layout of a figure of a height in pixels, on a transparent background, without dragging.

    `margins` are left, right, top and bottom, `narrowest` the width below which the figure should scroll, in pixels;
    `meta` are further entries of `layout.meta`.
    """
    return {
        "font": {"family": FONT, "color": "ink"},
        "hoverlabel": {"font": {"family": FONT, "size": 14}},
        "paper_bgcolor": TRANSPARENT,
        "plot_bgcolor": TRANSPARENT,
        "dragmode": False,
        "separators": decimal_mark() + thousands_mark(),
        "showlegend": False,
        "height": height,
        "margin": dict(zip("lrtb", margins, strict=True)),
        "meta": {"narrowest": narrowest} | meta,
    }


_AXIS: Part = {
    "fixedrange": True,
    # Otherwise Plotly measures each label at every drawing, which takes a third of its time.
    "ticklabeloverflow": "allow",
    "tickangle": 0,
    "ticks": "",
    "automargin": False,
    "gridcolor": "line",
    "zerolinecolor": "line",
    "tickfont": {"size": 11, "color": "quiet"},
}
"""The common part of an axis: hairlines, no zoom, no ticks; labels are level and may overflow."""
APART: Part = {"ticks": "outside", "ticklen": 5, "tickcolor": TRANSPARENT}
"""Keeps axis labels at a small distance from the plot."""
FRAMED: Part = {"linecolor": "line", "mirror": True}
"""Draws a frame around the plot."""


def bare_axis(**more: Any) -> Part:
    """Return an axis without grid and zero line; `more` are further properties of Plotly's axis."""
    return _AXIS | {"showgrid": False, "zeroline": False} | more


def blank_axis(start: float, end: float, **more: Any) -> Part:
    """Return a `bare_axis` from `start` to `end` without labels."""
    return bare_axis(range=[start, end], showticklabels=False, **more)


def label_axis(
    labels: Sequence[str],
    colour: str,
    places: Sequence[float] = (),
    size: int = 12,
    *,
    across: bool = False,
    stride: int = 1,
    **more: Any,
) -> Part:
    """Return an axis with labels, already escaped, by default the vertical axis of rows, downwards.

    Rows are at `places`, by default 0, 1, 2 and so on; every `stride`-th has its label, of `size` pixels. `across` is
    for columns, from the left; `more` are further properties of Plotly's axis.
    """
    ticks, drawn = list(places or range(len(labels))), slice(None, None, stride)
    ends = [ticks[-1] + 0.5, -0.5]
    axis = bare_axis(range=ends[::-1]) if across else bare_axis(range=ends) | APART
    font = {"size": size, "color": colour}
    return axis | {"tickvals": ticks[drawn], "ticktext": list(labels)[drawn], "tickfont": font} | more


def colour_limit(values: Numbers) -> float:
    """Return the amount at which colours of signed `values`, of any shape, saturate: their 98th percentile, or 1."""
    return float(np.quantile(np.abs(values), STRONGEST)) or 1.0


def strips(rows: Numbers | list[Any], limit: float, **more: Any) -> Part:
    """Return vectors, (rows, units), as strips downwards from 0, a pixel column for each unit.

    Blue is positive, red negative. The strength of a colour is the square root of the amount, so that small terms are
    visible; it saturates at `limit`. `more` are further properties of Plotly's trace.
    """
    place = {"x0": 1, "hovertemplate": gettext("unit %{x}: %{z:.3f}") + "<extra></extra>"}
    return cells(rows, -limit, limit, "signed_root_scale") | place | more


def cells(numbers: Any, low: float, high: float, scale: ColourScale | str, **more: Any) -> Part:
    """Return a heatmap of `numbers`, (rows, columns), coloured by a scale from `low` to `high`, without a colour bar.

    The scale may be a name in the palette; `more` are further properties of Plotly's trace.
    """
    colours = {"zmin": low, "zmax": high, "colorscale": scale, "showscale": False}
    return {"type": "heatmap", "z": numbers} | colours | more


def units_table(names: Sequence[str], vectors: Any, first: int = 1) -> dict[str, Any]:
    """Return a table with a row for each unit, and a column for each of the vectors, numbered from `first`."""
    columns = {f"({k}) {name}": vector for k, (name, vector) in enumerate(zip(names, vectors, strict=True), first)}
    return numbered_rows(columns, gettext("unit"))


def bars(ends: Any, colour: Any, hover: Sequence[Any] = (), *, marker: Part | None = None, **more: Any) -> Part:
    """Return horizontal bars at 0, 1, 2 and so on, with their `ends`, (n,), and the colour of all or of each.

    `hover` has the text of each bar, or what a `hovertemplate` in `more` needs; bars without one do not react. `marker`
    and `more` are further properties of Plotly's marker and trace.
    """
    trace = {"type": "bar", "orientation": "h", "x": ends, "y": list(range(len(ends)))}
    texts = {"customdata": list(hover), "hovertemplate": HOVER} if hover else {"hoverinfo": "skip"}
    return trace | {"marker": {"color": colour} | (marker or {})} | texts | more


def line(x: Sequence[float], y: Sequence[float], colour: str, width: float = 1, **more: Any) -> Part:
    """Return a line between two points, as a shape: `x` are shares of the figure's width, unless `more` has `xref`."""
    ends = {"x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1]}
    return {"type": "line", "xref": "paper", "line": {"color": colour, "width": width}} | ends | more


def text_at(text: str, x: float, y: float, colour: str = "ink", size: int = 12, /, **more: Any) -> Part:
    """Return a text, already escaped, above the point y of the rows and right of x, a share of the figure's width."""
    place = {"x": x, "xref": "paper", "xanchor": "left", "y": y, "yref": "y", "yanchor": "bottom"}
    return {"text": text, "showarrow": False, "font": {"size": size, "color": colour}} | place | more


def row_frame(row: float, colour: str = ROW_FRAME, width: float = 2, x: str = "x", y: str = "y") -> Part:
    """Return the frame of a row, from end to end of the horizontal axis `x`."""
    return rectangle(0, 1, row - 0.5, row + 0.5, colour, width) | {"xref": f"{x} domain", "yref": y}


def strip_shapes(rows_axis: Part, row: float, colour: str, width: float = 2, x: str = "x", y: str = "y") -> list[Part]:
    """Return what is drawn over strips: a line below each, and the frame of a row.

    Not Plotly's gaps: with those it would draw a strip in the pixels of the screen, not of the units.
    """
    gaps = "".join(f"M0,{place + 0.5}H1" for place in rows_axis["tickvals"])
    lines = {"type": "path", "path": gaps, "line": {"color": "paper", "width": 3}, "xref": f"{x} domain", "yref": y}
    return [lines, row_frame(row, colour, width, x, y)]


def titled_axis(title: str, size: int = 12, standoff: int | None = None, **more: Any) -> Part:
    """Return an axis with a title, already escaped, of `size` pixels, `standoff` pixels from the labels.

    `more` are further properties of Plotly's axis.
    """
    text = {"text": title, "font": {"size": size, "color": "quiet"}, "standoff": standoff}
    return _AXIS | {"title": text} | more


def points(x: Any, y: Any, marker: Part, **more: Any) -> Part:
    """Return a point at each x and y, (n,) each; `more` are further properties of Plotly's trace."""
    return {"type": "scatter", "mode": "markers", "x": x, "y": y, "marker": marker} | more


def legend_above(y: float = 1.02, **more: Any) -> Part:
    """Return the part of a layout for a legend above the plot, at its left end."""
    return {"showlegend": True, "legend": {"orientation": "h", "x": 0, "y": y, "yanchor": "bottom"} | more}


ATTENTION_STYLES = tuple(dict.fromkeys(("additive", "general", "none", *ATTENTION_KINDS)))
"""Kinds of attention, in the order of the styles of `curve`."""
_HUES = ("ink", "plus", "minus", "quiet", "decoder")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x")


def curve(x: Any, y: Sequence[float], name: str, k: int, colour: str = "", **more: Any) -> Part:
    """Return a line with markers, (n,) each: the `k`-th of several.

    They differ in dash and symbol, not only in colour. Its name is not escaped yet. `colour` replaces the `k`-th of the
    usual ones; `more` are properties of the trace.
    """
    colour = colour or _HUES[k % 5]
    marker = {"size": 8, "symbol": _SYMBOLS[k % 5], "color": colour}
    stroke = {"color": colour, "width": 2, "dash": _DASHES[k % 5]}
    line = {"mode": "lines+markers", "name": escape(name), "line": stroke, "cliponaxis": False}
    return points(x, list(y), marker, **line | more)


PANEL_GAP = 18
"""Pixels between panels side by side."""


def side_by_side(
    panels: Mapping[Any, tuple[str, Part, Part]],
    across: int,
    line: Sequence[float],
    margins: Sequence[int],
    narrowest: float,
    widest: float | None = None,
    *,
    size: int = 13,
    width: float = PRINT_WIDTH,
) -> tuple[Part, dict[Any, Part]]:
    """Return the layout of panels of equal size, in lines from the left, and the axes of each for its traces.

    A panel has its caption, in Plotly's markup, and its horizontal and vertical axis. Only the first panel of a line
    has the labels of its vertical axis. Raise ValueError unless there is at least 1 `across`.

    Args:
        panels: The panels by name.
        across: Number of panels in a line.
        line: Heights in pixels of a line: captions, labels below them, panels, and what is below the panels.
        margins: Left, right, top and bottom margin in pixels.
        narrowest: Pixels of a panel below which the figure should scroll.
        widest: Pixels of the widest panel, if there is a limit.
        size: Font size of captions in pixels.
        width: Width of the figure in pixels.
    """
    if across < 1:
        raise ValueError(f"across must be at least 1, not {across!r}")
    across, (captions, labels, plot, _) = max(1, min(across, len(panels))), line
    sides = margins[0] + margins[1] + PANEL_GAP * (across - 1)
    bounds = {} if widest is None else {"widest": round(sides + across * widest)}
    inner, gap = -(-len(panels) // across) * sum(line), PANEL_GAP / (width - margins[0] - margins[1])
    share = (1 - gap * (across - 1)) / across
    height, least = round(inner) + margins[2] + margins[3], max(300, round(sides + across * narrowest))
    layout = sized_layout(height, margins, least, **bounds) | {"shapes": [], "annotations": []}
    axes: dict[Any, Part] = {}
    for place, (name, (caption, horizontal, vertical)) in enumerate(panels.items()):
        row, column = divmod(place, across)
        left, top = column * (share + gap), 1 - (row * sum(line) + captions + labels) / inner
        x, y = (f"{letter}{place + 1 if place else ''}" for letter in "xy")
        layout[f"xaxis{x[1:]}"] = horizontal | {"domain": [left, min(1.0, left + share)], "anchor": y}
        ends = [max(0.0, top - plot / inner), top]
        layout[f"yaxis{y[1:]}"] = vertical | {"domain": ends, "anchor": x, "showticklabels": column == 0}
        above = {"yref": "paper", "xshift": -3, "yshift": 2, "align": "left"}
        layout["annotations"].append(text_at(caption, left, top + labels / inner, "ink", size, **above))
        axes[name] = {"xaxis": x, "yaxis": y}
    return layout, axes


def row_frames(meta: Part, step: int | None, panels: Iterable[Part] = ({"xaxis": "x", "yaxis": "y"},)) -> list[Part]:
    """Return the frames of the row of a 0-based step, one in each of the panels with these axes.

    It is empty where the step has no row. `meta` is the `layout.meta` that has the row of each step (`rows`).
    """
    row = None if step is None else meta["rows"][step]
    if row is None:
        return []
    return [row_frame(row, ROW_FRAME, ROW_FRAME_WIDTH, axes["xaxis"], axes["yaxis"]) for axes in panels]


def cursor(steps: Groups, pieces: Groups, step_count: int, piece_count: int) -> Part:
    """Return the part of `layout.meta` for clicks and frames on heatmaps of these groups of steps and source pieces.

    It has the first step of each row (`steps`) and the row of each step (`rows`), None where there is none, the same
    for source pieces and columns (`sources`, `columns`), and the colours of the frames of a row (`frame`) and a cell
    (`selection_colour`).
    """
    return {
        "steps": [group[0] if group else None for group in steps],
        "sources": [group[0] if group else None for group in pieces],
        "rows": places_of_pieces(steps, step_count),
        "columns": places_of_pieces(pieces, piece_count),
        "frame": ROW_FRAME,
        "selection_colour": CELL_FRAME,
    }


def pair_columns(trace: AttentionMatrix) -> dict[str, Any]:
    """Return the first columns of a table with a row for each target piece i and source piece j, from 1."""
    i, j = (place.ravel() for place in np.indices((len(trace.target_pieces), len(trace.source_pieces))))
    return {
        "i": i + 1,
        "j": j + 1,
        gettext("target piece"): np.array(trace.target_pieces, dtype=object)[i],
        gettext("source piece"): np.array(trace.source_surfaces, dtype=object)[j],
    }


def spaced(places: Sequence[float], distance: float) -> list[int]:
    """Return the 0-based numbers of the `places` with a label: each at least `distance` from all earlier labels."""
    kept: list[int] = []
    for k, place in enumerate(places):
        if all(abs(place - places[other]) >= distance for other in kept):
            kept.append(k)
    return kept


def path(x: Any, y: Any, colour: str, width: float = 1, **more: Any) -> Part:
    """Return a line through these points, (n,) each, broken at None; `more` are properties of Plotly's trace."""
    stroke = {"color": colour, "width": width}
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": stroke, "hoverinfo": "skip"} | more


def band(left: float, right: float, colour: str) -> Part:
    """Return a band of the full height below the traces, from `left` to `right` on the horizontal axis."""
    fill = {"yref": "paper", "layer": "below", "fillcolor": colour, "opacity": BAND}
    return rectangle(left, right, 0, 1, colour, 0) | fill
