"""Parts of the heatmap: sizes of its cells in pixels, bars in its margins, and markers of word links with legend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.attention_forms import SYMBOLS
from attnviz.analysis.gold import GoldLinks, link_errors, marker_names
from attnviz.analysis.grid import Grid, places_of_pieces
from attnviz.analysis.labels import shorten
from attnviz.analysis.numbers import decimal, signed
from attnviz.figures.spec import Part, base_axis, escape, label_width, rectangle, width
from attnviz.languages import gettext, ngettext
from attnviz.palette import MARKER, MARKER_EDGE, Palette
from attnviz.trace import Words
from attnviz.trace.drawing import Face
from attnviz.trace.word_link_text import Link

NARROWEST_COLUMN, LOWEST_ROW = 12, 16
"""Pixels; smaller cells have no room for a label, so the figure scrolls instead."""
HIGHEST_ROW, ROWS_HEIGHT = 44, 340
"""Pixels of the highest row, and of all rows together unless they have their smallest height.

With both sentences above, a heatmap of fifteen words fits a window of 900 pixels.
"""
ASPECT = 1.5
"""Largest ratio of width to height of a cell; wider cells would look like bars."""
LARGEST_SIDE = 4000
"""Pixels of all rows or columns; larger canvases fail in browsers, so cells shrink and only some are labelled."""
COLOUR_BAR_LENGTH = 190
"""Pixels of the colour bar, for which the figure must be wide enough."""


@dataclass(frozen=True)
class HeatmapSizes:
    """Sizes of a heatmap in pixels, and the angle of its column labels."""

    row: float
    """Height of a row."""
    left: int
    top: int
    right: int
    """Margins for the labels."""
    angle: int
    """Angle of the column labels in degrees: 0, -50 or -90."""
    narrowest: int
    """Width of the figure below which it should scroll."""
    widest: int
    """Width of the figure above which cells exceed ASPECT."""


def cell_sizes(cells: Grid) -> HeatmapSizes:
    """Return the sizes of a heatmap of `cells`, (rows, columns)."""
    rows, columns = cells.alpha.shape
    row = float(np.clip(ROWS_HEIGHT / rows, min(LOWEST_ROW, LARGEST_SIDE / rows), HIGHEST_ROW))
    size = font_size(columns)
    row_label_width, column_label_width = label_width(cells.target, font_size(rows)), label_width(cells.source, size)
    horizontal = columns * (column_label_width + 8) < min(420, columns * ASPECT * row)
    angle = 0 if horizontal else -90 if columns > 20 else -50
    # 0.77 is the sine of 50 degrees.
    label_height = {0: 1.6 * size, -50: column_label_width * 0.77 + size, -90: column_label_width + 6}[angle]
    left, right = int(row_label_width) + 16, 12
    if angle == -50:  # the cosine is 0.64; the labels of the last columns end beyond the cells
        right += int(
            max(
                0.64 * width(shorten(name), size) - k * NARROWEST_COLUMN
                for k, name in enumerate(reversed(cells.source))
            )
        )
    column = max(NARROWEST_COLUMN, int(column_label_width) + 6) if horizontal else NARROWEST_COLUMN
    narrowest = min(column * columns, LARGEST_SIDE)
    widest = max(round(ASPECT * row * columns), narrowest, COLOUR_BAR_LENGTH + 20)
    return HeatmapSizes(
        row, left, int(label_height) + 10, right, angle, left + right + narrowest, left + right + widest
    )


def font_size(count: int) -> int:
    """Return the font size of the labels of `count` rows or columns, in pixels."""
    return 14 if count <= 16 else 13 if count <= 26 else 12 if count <= 40 else 11


CELL_GAP_COLOUR = "#3b3935"
"""Colour between cells: too dark for a weight, light enough to separate two black cells."""

_BAR_HEIGHT, _GAP, _HEATMAP_SHARE = 44, 8, 0.87
"""Pixels of the bars below the heatmap and of the gap above them; share of the width for the heatmap."""


def cell_gap_colour(cells: Grid, ink: Palette) -> str:
    """Return the colour between cells; in a difference, a line colour, since cells of 0 have the background's."""
    return ink.line if cells.face == "difference" else CELL_GAP_COLOUR


def margin_bars(cells: Grid, positions: int, ink: Palette) -> list[Part]:
    """Return the bars of the margins: on `y2` below the columns, on `x2` right of the rows."""
    sum_texts = [
        _sum_text(cells.face, escape(shorten(name, 60)), amount)
        for name, amount in zip(cells.source, cells.covered.tolist(), strict=True)
    ]
    entropy_texts = [
        _entropy_text(cells.face, escape(shorten(name, 60)), bits, positions)
        + (gettext("<br>mean of its {count} pieces", count=len(steps)) if len(steps) > 1 else "")
        for name, bits, steps in zip(cells.target, cells.entropies.tolist(), cells.steps, strict=True)
    ]
    bar = {"type": "bar", "hovertemplate": "%{customdata}<extra></extra>"}
    return [
        bar
        | {
            "name": "coverage",
            "x": list(range(len(sum_texts))),
            "y": cells.covered.tolist(),
            "yaxis": "y2",
            "customdata": sum_texts,
            "marker": {"color": _bar_colours(cells, cells.covered, ink.encoder, ink)},
        },
        bar
        | {
            "name": "entropy",
            "orientation": "h",
            "x": cells.entropies.tolist(),
            "y": list(range(len(entropy_texts))),
            "xaxis": "x2",
            "customdata": entropy_texts,
            "marker": {"color": _bar_colours(cells, cells.entropies, ink.decoder, ink)},
        },
    ]


def _sum_text(face: Face, name: str, amount: float) -> str:
    """Return the hover text of the bar below a column."""
    if face == "difference":
        return gettext(
            "{name}: once the words are known, attention changes by {amount} in total (Σ (α′ − α) over the rows)",
            name=name,
            amount=signed(amount),
        )
    if face == "after":
        return ngettext(
            "{name}: posterior attention {count:.2f} in total (Σ α′ over the rows)",
            "{name}: posterior attention {count:.2f} in total (Σ α′ over the rows)",
            amount,
            name=name,
        )
    return gettext("{name}: attention {amount:.2f} in total (Σ α over the rows)", name=name, amount=amount)


def _entropy_text(face: Face, name: str, bits: float, positions: int) -> str:
    """Return the hover text of the bar beside a row."""
    if face == "difference":
        return ngettext(
            "{name}: entropy changes by {bits} bits (α′ minus α)",
            "{name}: entropy changes by {bits} bits (α′ minus α)",
            round(bits, 2),
            name=name,
            bits=signed(bits),
        )
    maximum, equivalent = np.log2(positions), 2**bits
    if face == "after":
        comparison = ngettext(
            "like a weight spread evenly over {count:.1f} pieces",
            "like a weight spread evenly over {count:.1f} pieces",
            equivalent,
        )
        return ngettext(
            "{name}: entropy H of α′ = {count:.2f} bits (at most {most:.2f}), {wide}",
            "{name}: entropy H of α′ = {count:.2f} bits (at most {most:.2f}), {wide}",
            bits,
            name=name,
            most=maximum,
            wide=comparison,
        )
    comparison = ngettext(
        "like a weight spread evenly over {count:.1f} pieces",
        "like a weight spread evenly over {count:.1f} pieces",
        equivalent,
    )
    return ngettext(
        "{name}: entropy H = {count:.2f} bits (at most {most:.2f}), {wide}",
        "{name}: entropy H = {count:.2f} bits (at most {most:.2f}), {wide}",
        bits,
        name=name,
        most=maximum,
        wide=comparison,
    )


def _axes(cells: Grid, positions: int) -> tuple[Part, Part]:
    """Return range and labels of the axes of sums, downwards, and of entropies, both from 0.

    In a difference they extend to both sides of 0, gains upwards.
    """
    if cells.face != "difference":
        largest_sum, largest_entropy = float(cells.covered.max()), float(np.log2(positions)) or 1.0
        sum_axis = {
            "range": [largest_sum * 1.04, 0],
            "tickvals": [0, largest_sum],
            "ticktext": [f"Σ {SYMBOLS[cells.face]}  0", decimal(largest_sum, 1)],
        }
        return sum_axis, {
            "range": [0, largest_entropy],
            "tickvals": [0, largest_entropy],
            "ticktext": ["0", decimal(largest_entropy, 1)],
        }
    largest_sum = max(float(np.abs(cells.covered).max()), 0.1) * 1.04
    largest_entropy = max(float(np.abs(cells.entropies).max()), 0.1) * 1.04
    sum_axis = {
        "range": [-largest_sum, largest_sum],
        "tickvals": [-largest_sum, 0, largest_sum],
        "ticktext": [signed(-largest_sum, 1), "Σ Δ  0", signed(largest_sum, 1)],
    }
    return sum_axis, {
        "range": [-largest_entropy, largest_entropy],
        "tickvals": [0, largest_entropy],
        "ticktext": ["0", signed(largest_entropy, 1)],
    }


def add_margin_axes(layout: Part, cells: Grid, positions: int, ink: Palette) -> None:
    """Shrink the heatmap of `layout`, and add the axes of the margins in the free space."""
    inner = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    bottom = (_BAR_HEIGHT + _GAP) / (inner + _BAR_HEIGHT + _GAP)
    layout["height"] += _BAR_HEIGHT + _GAP
    for bound in ("narrowest", "widest"):
        layout["meta"][bound] = round(layout["meta"][bound] / _HEATMAP_SHARE)
    layout["xaxis"]["domain"], layout["yaxis"]["domain"] = [0, _HEATMAP_SHARE], [bottom, 1]
    sum_axis, entropy_axis = _axes(cells, positions)
    axis = base_axis(ink) | {"showgrid": False, "zeroline": True}
    title = {"font": {"size": 11, "color": ink.quiet}, "standoff": 3}
    layout["yaxis2"] = (
        axis
        | {
            "domain": [0, bottom * _BAR_HEIGHT / (_BAR_HEIGHT + _GAP)],
            "anchor": "x",
        }
        | sum_axis
    )
    layout["xaxis2"] = (
        axis
        | {
            "domain": [_HEATMAP_SHARE + 0.02, 1],
            "anchor": "y",
            "side": "bottom",
            "title": title | {"text": ("Δ" if cells.face == "difference" else "") + gettext("H, bits")},
        }
        | entropy_axis
    )
    layout["xaxis"]["anchor"], layout["bargap"] = "y", 0.25
    # A plot background covers every panel; the colour between cells must cover the heatmap only.
    rows, columns = cells.alpha.shape
    colour = cell_gap_colour(cells, ink)
    background = rectangle(-0.5, columns - 0.5, -0.5, rows - 0.5, colour, 0) | {"fillcolor": colour, "layer": "below"}
    layout["plot_bgcolor"], layout["shapes"] = "rgba(0,0,0,0)", [background]


def _bar_colours(cells: Grid, amounts: NDArray[np.float64], colour: str, ink: Palette) -> str | list[str]:
    """Return the colour of the bars, or one for each bar where a difference has signs."""
    if cells.face != "difference":
        return colour
    return [ink.plus if amount >= 0 else ink.minus for amount in amounts.tolist()]


LinkKind = Literal["sure", "possible", "false"]
LINK_SYMBOLS: dict[LinkKind, str] = {"sure": "◉", "possible": "○", "false": "×"}
"""Symbols in the legend; they differ in shape."""
_LINE_HEIGHT, _FONT_SIZE = 18, 12
"""Line height and font size of the legend, in pixels."""
_COLOUR_BAR_HEIGHT = 40
"""Height in pixels of the colour bar, below which the legend is."""


@dataclass(frozen=True)
class LinkMarkers:
    """The markers of the links on one heatmap."""

    positions: dict[LinkKind, tuple[Link, ...]]
    """The (row, column) of each marker, by kind; only kinds that occur."""

    def hover_lines(self) -> dict[Link, str]:
        """Return a line for the hover text of each marked cell (row, column), which names its marker."""
        names = marker_names()
        return {
            position: f"{LINK_SYMBOLS[kind]} {names[kind]}"
            for kind, positions in self.positions.items()
            for position in positions
        }

    def traces(self, sizes: HeatmapSizes, columns: int) -> list[Part]:
        """Return the markers as Plotly traces, with dark edges and light fill, which are visible on any colour.

        They ignore the pointer, so that hovering reaches the cell.
        """
        narrowest = (sizes.narrowest - sizes.left - sizes.right) / columns
        size = float(np.clip(0.46 * min(sizes.row, 2 * narrowest), 7, 15))
        return [trace for kind, positions in self.positions.items() for trace in _mark_traces(kind, positions, size)]

    def legend(self, sizes: HeatmapSizes, ink: Palette) -> tuple[list[Part], int]:
        """Return the legend of the markers below the heatmap, and its height in pixels."""
        lines, names = [""], marker_names()
        for kind in self.positions:
            text = f"{LINK_SYMBOLS[kind]}\u00a0{names[kind]}"
            longer = f"{lines[-1]}   {text}" if lines[-1] else text
            if lines[-1] and width(longer, _FONT_SIZE) > sizes.narrowest - 12:
                lines.append(text)
            else:
                lines[-1] = longer
        annotation = {
            "text": "<br>".join(lines),
            "showarrow": False,
            "align": "left",
            "xref": "paper",
            "yref": "paper",
            "x": 0,
            "y": 0,
            "xanchor": "left",
            "yanchor": "top",
            "xshift": 8 - sizes.left,
            "yshift": -_COLOUR_BAR_HEIGHT,
            "font": {"size": _FONT_SIZE, "color": ink.ink},
        }
        return [annotation], _LINE_HEIGHT * len(lines) + 4


def link_markers(grid: Grid, words: Words, gold: GoldLinks) -> LinkMarkers:
    """Return the markers of the links of `gold` and `words` on the cells of `grid`, which are words or pieces.

    A false link is one of the alignment in `words` that is neither a sure nor a possible link of `gold`.
    """
    errors = link_errors(words, gold)
    piece_counts = (max(map(max, groups)) + 1 for groups in (words.target_groups, words.source_groups))
    rows, columns = (
        places_of_pieces(groups, count) for groups, count in zip((grid.steps, grid.pieces), piece_counts, strict=True)
    )

    def positions_of(links: frozenset[Link] | tuple[Link, ...]) -> tuple[Link, ...]:
        positions = {
            (rows[step], columns[piece])
            for j, i in links
            for step in words.linkable.target_groups[i]
            for piece in words.linkable.source_groups[j]
        }
        return tuple(sorted((r, c) for r, c in positions if r is not None and c is not None))

    kinds: dict[LinkKind, tuple[Link, ...]] = {
        "sure": positions_of(gold.sure),
        "possible": positions_of(gold.possible),
        "false": positions_of(errors.false),
    }
    return LinkMarkers({kind: positions for kind, positions in kinds.items() if positions})


def _mark_traces(kind: LinkKind, positions: tuple[Link, ...], size: float) -> list[Part]:
    """Return the markers of a kind: edge, line, and for sure links a dot inside."""
    rows, columns = map(list, zip(*positions, strict=True))
    points = {"type": "scatter", "mode": "markers", "x": columns, "y": rows, "hoverinfo": "skip", "showlegend": False}
    line = max(1.2, 0.14 * size)
    # The line of an open symbol is its colour; the edge is a wider symbol below it.
    layers: list[tuple[str, Part]] = [
        (f"{kind} edge", {"size": size, "color": MARKER_EDGE, "line": {"width": line + 2.5}}),
        (kind, {"size": size, "color": MARKER, "line": {"width": line}}),
    ]
    shape = {"symbol": "x-thin-open" if kind == "false" else "circle-open"}
    traces = [points | {"name": name, "marker": shape | marker} for name, marker in layers]
    if kind == "sure":  # a dot with a dark edge, which is visible on light cells too
        core = {"symbol": "circle", "size": 0.44 * size, "color": MARKER, "line": {"width": 1, "color": MARKER_EDGE}}
        traces.append(points | {"name": "sure core", "marker": core})
    return traces
