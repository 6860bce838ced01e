"""Layout of the figure that compares two translations: panel sizes, axes, captions, colour bars, hatching."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.attention_forms import SYMBOLS
from attnviz.analysis.comparison import Comparison, SharedAxis, panel_captions
from attnviz.analysis.labels import shorten
from attnviz.analysis.numbers import significant
from attnviz.figures.heatmap_parts import CELL_GAP_COLOUR
from attnviz.figures.spec import Part, base_axis, base_layout, escape, label_stride
from attnviz.languages import format_number
from attnviz.palette import ColourScale, Palette
from attnviz.trace.drawing import Face

LOG_PROBABILITIES = "words"
"""Kind of the panel with log p of each word; the others are "first", "other" and "difference"."""
_ROW, _ROWS = (16, 34), 380
"""Pixels: smallest and largest row, and all rows together in between."""
_CAPTION, _COLOUR_BAR, _GAP, _RIGHT = 40, 44, 18, 12
"""Pixels of a caption above a panel, of the colour bar below, between panels, and of the right margin."""
_COLUMN, _NARROWEST_PANEL, _ASPECT = 15, 210, 1.6
"""Pixels of the narrowest column with its slanted label, and of the narrowest panel; largest width to height."""
_LABEL, _EM, _MOST_SLANTED = 14, 0.56, 24
"""Characters of a label; average width of a letter, in font sizes; columns above which labels are vertical."""


@dataclass(frozen=True)
class PanelSizes:
    """Sizes of a comparison in pixels, and the axes of its panels."""

    rows: int
    columns: int
    """Numbers of drawn rows and columns."""
    panels_per_line: int
    row_height: float
    left: int
    top: int
    """Pixels for the labels left of a line of panels, and above each heatmap."""
    right: int
    axes: dict[str, dict[str, str]]
    """Axes of each panel, by kind."""
    width: int
    """Width of the whole figure."""

    @staticmethod
    def for_comparison(compared: Comparison, *, end: bool, across: int, width: int) -> PanelSizes:
        """Return the sizes in which `compared` is drawn."""
        rows, columns = (
            max(1, len(axis.names) - (not end and axis.names[-1:] == ("</s>",)))
            for axis in (compared.target, compared.source)
        )
        kinds = ["first", "other", "difference"] if compared.both_attend else []
        kinds += [LOG_PROBABILITIES] if compared.has_probabilities or not kinds else []
        axes = {
            kind: {axis + "axis": f"{axis}{'' if place == 0 else place + 1}" for axis in "xy"}
            for place, kind in enumerate(kinds)
        }
        size, slanted = _font_size(columns), columns <= _MOST_SLANTED
        label_length = _longest(compared.source) * size * _EM
        top = (int(label_length * 0.77) + size if slanted else int(label_length)) + 8 if compared.both_attend else 6
        right = _RIGHT + (int(label_length * 0.62) if slanted and compared.both_attend else 0)
        left = int(_longest(compared.target) * _font_size(rows) * _EM) + 14
        row_height = float(np.clip(_ROWS / rows, *_ROW))
        return PanelSizes(rows, columns, min(across, len(kinds)), row_height, left, top, right, axes, width)

    @property
    def cell_gap(self) -> int:
        """Pixels between two cells."""
        return 1 if max(self.rows, self.columns) <= 32 else 0

    @property
    def line_height(self) -> float:
        """Height of a line of panels, with captions and colour bars."""
        return _CAPTION + self.top + self.rows * self.row_height + _COLOUR_BAR

    @property
    def height(self) -> float:
        """Height of all lines."""
        return -(-len(self.axes) // self.panels_per_line) * self.line_height

    def bounds(self) -> tuple[int, int]:
        """Return the widths of the figure below which it should scroll, and above which cells are too wide."""
        margins = self.left + self.right + (self.panels_per_line - 1) * _GAP
        narrowest = max(_NARROWEST_PANEL, _COLUMN * self.columns if len(self.axes) > 1 else 0)
        widest = max(narrowest, 320, round(_ASPECT * self.row_height * self.columns))
        return margins + self.panels_per_line * narrowest, margins + self.panels_per_line * widest

    def domains(self, kind: str) -> tuple[list[float], list[float]]:
        """Return the position of a panel as shares of the figure: horizontal and vertical."""
        line, column = divmod(list(self.axes).index(kind), self.panels_per_line)
        inner = max(1, self.width - self.left - self.right)
        gap = _GAP / inner
        panel_width = (1 - gap * (self.panels_per_line - 1)) / self.panels_per_line
        top = 1 - (line * self.line_height + _CAPTION + self.top) / self.height
        start = column * (panel_width + gap)
        return [start, start + panel_width], [max(0.0, top - self.rows * self.row_height / self.height), top]


def panels_layout(compared: Comparison, sizes: PanelSizes, names: tuple[str, str], ink: Palette) -> Part:
    """Return the layout with the axes and captions of all panels."""
    narrowest, widest = sizes.bounds()
    layout = base_layout(ink) | {
        "height": round(sizes.height) + 4,
        "margin": {"l": sizes.left, "r": sizes.right, "t": 0, "b": 4},
        "hovermode": "closest",
        "annotations": [],
        "shapes": [],
        "meta": {"narrowest": narrowest, "widest": widest},
    }
    captions = panel_captions(names, compared)
    for place, (kind, axes) in enumerate(sizes.axes.items()):
        horizontal, vertical = sizes.domains(kind)
        has_labels = place % sizes.panels_per_line == 0
        # Drawn below the heatmaps of the other panels: the colour that shows between their cells.
        if kind != LOG_PROBABILITIES:
            layout["shapes"].append(_background(axes, ink.line if kind == "difference" else CELL_GAP_COLOUR))
        x = _source_axis(compared.source, sizes, ink) if kind != LOG_PROBABILITIES else _log_axis(compared, sizes, ink)
        layout[_layout_key(axes["xaxis"])] = x | {"domain": horizontal, "anchor": axes["yaxis"]}
        layout[_layout_key(axes["yaxis"])] = _target_axis(
            compared.target, sizes, ink, grid=kind == LOG_PROBABILITIES
        ) | {
            "domain": vertical,
            "anchor": axes["xaxis"],
            "showticklabels": has_labels,
        }
        name, caption = captions[kind]
        layout["annotations"].append(
            {
                "text": f'<b>{escape(name)}</b><br><span style="color:{ink.quiet}">{escape(caption)}</span>',
                "showarrow": False,
                "align": "left",
                "xref": "paper",
                "yref": "paper",
                "x": horizontal[0],
                "y": vertical[1] + (sizes.top + _CAPTION) / sizes.height,
                "xanchor": "left",
                "yanchor": "top",
                "xshift": -3,
                "font": {"size": 13, "color": ink.ink},
            }
        )
    return layout


def colour_axis(
    sizes: PanelSizes, kind: str, face: Face, colouring: ColourScale, limit: float, root: bool, ink: Palette
) -> Part:
    """Return the colour scale of the panel `kind`, with its colour bar below.

    Shares run from 0 to 1, coloured by their square root if `root`; differences run from -`limit` to `limit`.
    """
    horizontal, vertical = sizes.domains(kind)
    signed = kind == "difference" or face == "difference"
    if signed:
        positions = np.linspace(-limit, limit, 5).tolist()
        labels = [format_number(t, "+.2g") if t else "0" for t in positions]
    else:
        ticks = [0, 0.05, 0.25, 0.5, 1] if root else [0, 0.25, 0.5, 0.75, 1]
        positions = [float(np.sqrt(t)) if root else t for t in ticks]
        labels = [f"{SYMBOLS[face]} = 0", *(significant(t) for t in ticks[1:])]
    bar = {
        "orientation": "h",
        "x": horizontal[0],
        "xanchor": "left",
        "y": vertical[0],
        "yanchor": "top",
        "xpad": 0,
        "ypad": 8,
        "thickness": 8,
        "lenmode": "pixels",
        "len": 180,
        "outlinewidth": 1,
        "outlinecolor": ink.line,
        "tickvals": positions,
        "ticktext": labels,
        "tickfont": {"size": 11, "color": ink.quiet},
    }
    return {"colorscale": colouring, "cmin": -limit if signed else 0, "cmax": limit, "colorbar": bar}


def hatching(rows: NDArray[np.bool_], columns: NDArray[np.bool_], ink: Palette) -> Part:
    """Return the hatching of the `rows` (R,) and `columns` (C,) that a panel lacks."""
    bottom, right = len(rows) - 0.5, len(columns) - 0.5
    boxes = [(-0.5, right, row - 0.5, row + 0.5) for row, absent in enumerate(rows) if absent]
    boxes += [(column - 0.5, column + 0.5, -0.5, bottom) for column, absent in enumerate(columns) if absent]
    x = [value for x0, x1, _, _ in boxes for value in (x0, x1, x1, x0, x0, np.nan)]
    y = [value for _, _, y0, y1 in boxes for value in (y0, y0, y1, y1, y0, np.nan)]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "gaps",
        "x": np.array(x),
        "y": np.array(y),
        "fill": "toself",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "fillpattern": {"shape": "/", "fgcolor": ink.quiet, "bgcolor": ink.paper, "size": 8, "solidity": 0.12},
    }


def _background(axes: dict[str, str], colour: str) -> Part:
    return {
        "type": "rect",
        "x0": 0,
        "x1": 1,
        "y0": 0,
        "y1": 1,
        "xref": f"{axes['xaxis']} domain",
        "yref": f"{axes['yaxis']} domain",
        "fillcolor": colour,
        "line": {"width": 0},
        "layer": "below",
    }


def _layout_key(axis: str) -> str:
    """Return the name in the layout of an axis, such as xaxis2 for x2."""
    return f"{axis[0]}axis{axis[1:]}"


def _source_axis(axis: SharedAxis, sizes: PanelSizes, ink: Palette) -> Part:
    stride = label_stride(sizes.columns)
    return base_axis(ink) | {
        "side": "top",
        "showgrid": False,
        "zeroline": False,
        "linecolor": ink.line,
        "mirror": True,
        "range": [-0.5, sizes.columns - 0.5],
        "tickangle": -50 if sizes.columns <= _MOST_SLANTED else -90,
        "tickvals": list(range(0, sizes.columns, stride)),
        "ticktext": _labels(axis, sizes.columns, ink)[::stride],
        "tickfont": {"size": _font_size(sizes.columns), "color": ink.encoder},
    }


def _target_axis(axis: SharedAxis, sizes: PanelSizes, ink: Palette, *, grid: bool) -> Part:
    stride = label_stride(sizes.rows)
    return base_axis(ink) | {
        "showgrid": grid,
        "zeroline": False,
        "linecolor": ink.line,
        "mirror": not grid,
        "range": [sizes.rows - 0.5, -0.5],
        "tickvals": list(range(0, sizes.rows, stride)),
        "ticktext": _labels(axis, sizes.rows, ink)[::stride],
        "tickfont": {"size": _font_size(sizes.rows), "color": ink.decoder},
    }


def _log_axis(compared: Comparison, sizes: PanelSizes, ink: Palette) -> Part:
    logs = np.concatenate(
        [compared.first_log_probabilities[: sizes.rows], compared.other_log_probabilities[: sizes.rows]]
    )
    lowest = min(-0.5, float(np.nan_to_num(logs).min()))
    return base_axis(ink) | {
        "range": [1.06 * lowest, -0.05 * lowest],
        "zerolinecolor": ink.quiet,
        "nticks": 6,
        "title": {
            "text": "log p",
            "font": {"size": 12, "color": ink.quiet},
            "standoff": 2,
        },
    }


def _labels(axis: SharedAxis, count: int, ink: Palette) -> list[str]:
    """Return the labels of positions; a word of one side only has a sign and a colour."""
    labels = []
    for name, first, other in list(zip(axis.names, axis.first, axis.other, strict=True))[:count]:
        label = escape(shorten(name, _LABEL))
        if first is None or other is None:
            sign, colour = ("+", ink.plus) if first is None else ("−", ink.minus)
            label = f'<span style="color:{colour}">{sign} {label}</span>'
        labels.append(label)
    return labels


def _longest(axis: SharedAxis) -> int:
    return max(
        len(shorten(name, _LABEL)) + (0 if shared else 2) for name, shared in zip(axis.names, axis.shared, strict=True)
    )


def _font_size(count: int) -> int:
    """Return the font size of the labels of `count` rows or columns, in pixels."""
    return 13 if count <= 16 else 12 if count <= 30 else 11
